; Tail calls need no stack, however many there are.
(define (count-down n) (if (= n 0) 'done (count-down (- n 1))))
(print "itself: " (count-down 1000000))

(define (even-by-turns? n) (or (= n 0) (odd-by-turns? (- n 1))))
(define (odd-by-turns? n) (and (not (= n 0)) (even-by-turns? (- n 1))))
(print "in or and and: " (even-by-turns? 1000001))

(define (by-cond n)
  (cond ((= n 0) 'done)
        ((odd? n) (let ((m (- n 1))) (by-cond m)))
        (else (begin 'ignored (by-cond (- n 1))))))
(print "in cond, let and begin: " (by-cond 1000000))

(define (by-apply n) (if (= n 0) 'done (apply by-apply (list (- n 1)))))
(print "through apply: " (by-apply 1000000))

(define (pass k n) (if (= n 0) (k 'done) (pass (lambda (x) (k x)) 0)))
(define (by-continuation n k) (if (= n 0) (k 'done) (by-continuation (- n 1) k)))
(print "with a continuation: " (by-continuation 1000000 (lambda (x) x)))

(define (locally n)
  (define (up i) (if (< i n) (down (+ i 2)) i))
  (define (down i) (up (- i 1)))
  (up 0))
(print "between inner functions: " (locally 1000000))

(print "in a loop: " (let loop ((i 0) (sum 0)) (if (< i 1000000) (loop (+ i 1) (+ sum i)) sum)))
(print "in do: " (do ((i 0 (+ i 1)) (sum 0 (+ sum i))) ((= i 1000000) sum)))
