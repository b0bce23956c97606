; Tasks run in domains of their own, and share all values that they can reach.
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(print "in parallel: " (parallel (fib 15) (fib 16) (fold-left + 0 (iota 1000)) 'done))
(print "a task's value may be anything: " (join (spawn (lambda () (map (lambda (i) (list i (number->string i))) (iota 3))))))

(define counter (make-atom 0))
(define (count-up n) (when (> n 0) (atom-update! counter (lambda (x) (+ x 1))) (count-up (- n 1))))
(parallel (count-up 1000) (count-up 1000) (count-up 1000))
(print "no turn is lost: " (atom-ref counter))

(define found (make-atom '()))
(parallel-map (lambda (from)
                (for-each (lambda (i) (when (= 0 (remainder i 37)) (atom-update! found (lambda (l) (cons i l)))))
                          (iota 500 from)))
              '(0 500 1000))
(print "collected in one list: " (sort (atom-ref found) <))

(define shared 'before)
(join (spawn (lambda () (set! shared (list 'set 'by 'a 'task)))))
(print "globals are shared: " shared)

(define symbols (parallel-map (lambda (k) (map (lambda (i) (string->symbol (string-append "s" (number->string i)))) (iota 200))) '(1 2 3)))
(print "symbols are the same everywhere: " (equal? (car symbols) (cadr symbols)) (eq? (car (car symbols)) 's0))

(print "an error comes with the join: "
       (guard (e (#t (condition->string e))) (join (spawn (lambda () (vector-ref (vector) 0))))))
(define task (spawn (lambda () 1)))
(join task)
(print "joined twice: " (guard (e (#t (condition->string e))) (join task)))
(print "tasks of tasks: " (join (spawn (lambda () (+ 1 (join (spawn (lambda () 41))))))))
(call-with-escape
  (lambda (k)
    (print "an escape into another domain: " (guard (e (#t (condition->string e))) (join (spawn (lambda () (k 1))))))))
(define-macro (later form) `(spawn (lambda () ,form)))
(print "evaluated there: " (join (later (eval '(begin (define made-there (* 6 7)) made-there)))) " " made-there)
(define garbage (parallel-map (lambda (k) (length (let loop ((i 0) (l '())) (if (= i 50000) l (loop (+ i 1) (cons (vector i l) l)))))) '(1 2 3 4)))
(print garbage)
(spawn (lambda () (fib 10)))
(print "who is not joined is waited for")
