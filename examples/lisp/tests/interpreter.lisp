; A Lisp interpreter in Lisp, which runs programs, and runs as much of itself as is needed to run a program.
(define interpreter
  '(begin
     (define (look-up name environment)
       (let ((found (assq name environment)))
         (if found (cdr found) (error "not bound:" name))))
     (define (bind names values environment)
       (cond ((null? names) environment)
             ((symbol? names) (cons (cons names values) environment))
             (else (cons (cons (car names) (car values)) (bind (cdr names) (cdr values) environment)))))
     (define (run-all forms environment)
       (if (null? (cdr forms))
           (run (car forms) environment)
           (begin (run (car forms) environment) (run-all (cdr forms) environment))))
     (define (run-clauses clauses environment)
       (cond ((null? clauses) #f)
             ((or (eq? (car (car clauses)) 'else) (run (car (car clauses)) environment))
              (run-all (cdr (car clauses)) environment))
             (else (run-clauses (cdr clauses) environment))))
     (define (run-list forms environment)
       (if (null? forms) '() (cons (run (car forms) environment) (run-list (cdr forms) environment))))
     (define (run-let bindings body environment)
       (run-all body (bind (map (lambda (b) (car b)) bindings)
                           (map (lambda (b) (run (car (cdr b)) environment)) bindings)
                           environment)))
     (define (run-definition form environment)
       (if (pair? (car (cdr form)))
           (run-definition (list 'define (car (car (cdr form)))
                                 (cons 'lambda (cons (cdr (car (cdr form))) (cdr (cdr form)))))
                           environment)
           (let ((value (run (car (cdr (cdr form))) environment)))
             (set-cdr! environment (cons (car environment) (cdr environment)))
             (set-car! environment (cons (car (cdr form)) value)))))
     (define (run form environment)
       (cond ((symbol? form) (look-up form environment))
             ((not (pair? form)) form)
             (else
              (let ((head (car form)))
                (cond ((eq? head 'quote) (car (cdr form)))
                      ((eq? head 'if)
                       (if (run (car (cdr form)) environment)
                           (run (car (cdr (cdr form))) environment)
                           (run (car (cdr (cdr (cdr form)))) environment)))
                      ((eq? head 'cond) (run-clauses (cdr form) environment))
                      ((eq? head 'or)
                       (or (run (car (cdr form)) environment) (run (car (cdr (cdr form))) environment)))
                      ((eq? head 'begin) (run-all (cdr form) environment))
                      ((eq? head 'let) (run-let (car (cdr form)) (cdr (cdr form)) environment))
                      ((eq? head 'lambda)
                       (lambda arguments
                         (run-all (cdr (cdr form)) (bind (car (cdr form)) arguments environment))))
                      ((eq? head 'define) (run-definition form environment))
                      (else (apply (run head environment) (run-list (cdr form) environment))))))))))

(eval interpreter)

(define (global-environment)
  (list (cons 'nothing 0)
        (cons '+ +) (cons '- -) (cons '* *) (cons '< <) (cons '= =) (cons 'eq? eq?) (cons 'not not)
        (cons 'car car) (cons 'cdr cdr) (cons 'cons cons) (cons 'list list) (cons 'null? null?)
        (cons 'pair? pair?) (cons 'symbol? symbol?) (cons 'assq assq) (cons 'apply apply)
        (cons 'map map) (cons 'set-car! set-car!) (cons 'set-cdr! set-cdr!) (cons 'error error)))

(define (run-program form) (run form (global-environment)))

(define fibonacci '(begin (define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 15)))
(define closures '(begin (define (adder n) (lambda (x) (+ x n))) (map (adder 10) '(1 2 3))))
(define primes
  '(begin
     (define (divides? d n) (cond ((< n d) (= n 0)) (else (divides? d (- n d)))))
     (define (prime? n d) (cond ((< n (* d d)) (< 1 n)) ((divides? d n) (< n 0)) (else (prime? n (+ d 1)))))
     (define (primes n) (cond ((= n 0) '()) ((prime? n 2) (cons n (primes (- n 1)))) (else (primes (- n 1)))))
     (primes 60)))

(print "interpreted: " (run-program fibonacci) " " (run-program closures))
(print (run-program primes))
(print "not bound: " (guard (e (#t (condition->string e))) (run-program '(+ 1 unknown))))

; The interpreter runs itself, which runs a program.
(define (twice form)
  (run-program
    `(begin
       ,interpreter
       (run ',form (list (cons 'nothing 0) (cons '+ +) (cons '- -) (cons '* *) (cons '< <) (cons '= =) (cons 'cons cons)
                         (cons 'map map))))))
(print "interpreted twice: " (twice '(begin (define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 8))))
(print (twice closures))
