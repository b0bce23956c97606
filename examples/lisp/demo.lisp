; Reads a web shop's log line by line: an example program for profiles.
;   WINNOW_TRACE=shop.trace lisp examples/lisp/demo.lisp && winnow report shop.trace
(define seed 4711)
(define (random n)
  (set! seed (modulo (* seed 48271) 2147483647))
  (modulo (quotient seed 1024) n))
(define (pick v) (vector-ref v (random (vector-length v))))

; ---- the log: "client action article", made up as it is read ----

(define actions (list->vector '("view" "view" "view" "view" "view" "put" "put" "order" "search")))
(define (next-line)
  (string-join (list (number->string (random 400)) (pick actions) (number->string (random 2000))) " "))

; Short-lived: three strings and a list for each line.
(define (parse line) (string-split line " "))

; ---- what is kept ----

; Carts grow until an order empties them: held for a while.
(define carts (make-table))
(define (put-into-cart client article)
  (table-update! carts client (lambda (cart) (cons article cart)) '()))

; Orders stay, as they should.
(define orders '())
(define (order client time)
  (let ((cart (table-ref carts client '())))
    (unless (null? cart)
      (set! orders (cons (list time client (list->vector cart)) orders))
      (table-set! carts client '()))))

; A cache from which nothing is removed: each search leaves a page, though few are ever needed again.
(define pages (make-table))
(define (render query)
  (let ((lines (map (lambda (i) (string-append query "-" (number->string i))) (iota 20))))
    (string-append "found:\n" (string-join lines "\n"))))
(define (search client query)
  (let ((key (string-append client "/" query)))
    (or (table-ref pages key #f)
        (let ((page (render query)))
          (table-set! pages key page)
          page))))

; ---- the day ----

(define (handle words time)
  (let ((client (car words)) (action (cadr words)) (article (caddr words)))
    (cond ((equal? action "put") (put-into-cart client article))
          ((equal? action "order") (order client time))
          ((equal? action "search") (search client article)))))

(define (serve time)
  (when (< time 500000)
    (handle (parse (next-line)) time)
    (serve (+ time 1))))
(serve 0)

(define (best-clients n)
  (define sums (make-table))
  (for-each (lambda (o) (table-update! sums (cadr o) (lambda (sum) (+ sum (vector-length (caddr o)))) 0)) orders)
  (list-head (sort (table->list sums) (lambda (a b) (or (> (cdr a) (cdr b)) (and (= (cdr a) (cdr b)) (string<? (car a) (car b)))))) n))
(print (length orders) " orders, " (table-count pages) " pages; best clients:")
(for-each (lambda (c) (print "  " (car c) " bought " (cdr c))) (best-clients 3))
