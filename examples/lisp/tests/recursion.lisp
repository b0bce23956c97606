; Deep recursion works, and too deep recursion is an error like any other.
(define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))
(print "deep: " (deep 200000))

(define (build n) (if (= n 0) '() (cons n (build (- n 1)))))
(print "a list from the depth: " (length (build 100000)))

(define (endless n) (+ 1 (endless n)))
(define (message-of thunk) (guard (e (#t (condition->string e))) (thunk)))
(print "endless: " (message-of (lambda () (endless 1))))
(print "and again: " (message-of (lambda () (endless 1))))

(define nested (let loop ((i 0) (x '())) (if (< i 100000) (loop (+ i 1) (list x)) x)))
(define copy (let loop ((i 0) (x '())) (if (< i 100000) (loop (+ i 1) (list x)) x)))
(print "printed nesting ends: " (< 2000 (string-length (->string nested)) 10000))
(print "what is nested too deeply to compare is not equal: " (equal? nested copy))
(print "more arguments than there is room for: " (message-of (lambda () (apply + (iota 5000000)))))
