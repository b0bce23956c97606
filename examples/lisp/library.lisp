; The part of the Lisp that is written in Lisp. It is loaded once, before any program, and all programs share it.

; ---- errors and escapes ----

; A handler runs at the place of the error; the handlers outside it are active meanwhile. It must not return.
(define (raise condition)
  (let ((handlers (%handlers)))
    (if (pair? handlers)
        (begin
          (%set-handlers! (cdr handlers))
          ((car handlers) condition)
          (%uncaught (%make-error "a handler has returned from" (list condition))))
        (%uncaught condition))))
(%set-raise! raise)

(define (error message . irritants)
  (raise (%make-error message irritants)))

(define (with-exception-handler handler thunk)
  (let ((outer (%handlers)))
    (%set-handlers! (cons handler outer))
    (let ((result (thunk)))
      (%set-handlers! outer)
      result)))

(define (%unwind-to winds)
  (let loop ((now (%winds)))
    (unless (eq? now winds)
      (%set-winds! (cdr now))
      ((car now))
      (loop (%winds)))))

(define (dynamic-wind before thunk after)
  (before)
  (%set-winds! (cons after (%winds)))
  (let ((result (thunk)))
    (%set-winds! (cdr (%winds)))
    (after)
    result))

; Calls f with a procedure that returns its argument from this call; it can be used until f has returned.
(define (call-with-escape f)
  (let* ((escape (%escape-here))
         (handlers (%handlers))
         (winds (%winds))
         (result (f (lambda (value)
                      (%escape-check escape)
                      (%unwind-to winds)
                      (%set-handlers! handlers)
                      (%escape escape value)))))
    (%escape-end)
    result))
(define call/ec call-with-escape)

; The caught value is carried in a pair that exists already, since there may be no memory for a new one.
(define (%guard body handler)
  (let* ((mark (list #f))
         (result (call-with-escape
                   (lambda (escape)
                     (with-exception-handler
                       (lambda (condition)
                         (set-car! mark condition)
                         (escape mark))
                       body)))))
    (if (eq? result mark) (handler (car mark)) result)))

(define-macro (guard spec . body)
  (let ((name (car spec)) (clauses (cdr spec)))
    `(%guard (lambda () ,@body)
             (lambda (,name)
               (cond ,@clauses
                     ,@(if (and (pair? clauses) (eq? (car (list-ref clauses (- (length clauses) 1))) 'else))
                           '()
                           `((else (raise ,name)))))))))

(define (condition->string condition)
  (let ((port (open-output-string)))
    (if (error? condition)
        (begin
          (display (error-message condition) port)
          (for-each (lambda (irritant) (display " " port) (write irritant port)) (error-irritants condition)))
        (write condition port))
    (get-output-string port)))

; ---- macros ----

(define-macro (case key . clauses)
  (let ((name (gensym)))
    `(let ((,name ,key))
       (cond ,@(map (lambda (clause)
                      (cond ((eq? (car clause) 'else) clause)
                            ((and (pair? (car clause)) (null? (cdr (car clause))))
                             `((eqv? ,name ',(car (car clause))) ,@(cdr clause)))
                            (else `((member ,name ',(car clause)) ,@(cdr clause)))))
                    clauses)))))

(define-macro (do bindings end . body)
  (let ((loop (gensym)))
    `(let ,loop ,(map (lambda (binding) (list (car binding) (car (cdr binding)))) bindings)
       (if ,(car end)
           (begin (if #f #f) ,@(cdr end))
           (begin
             ,@body
             (,loop ,@(map (lambda (binding)
                             (if (pair? (cdr (cdr binding))) (car (cdr (cdr binding))) (car binding)))
                           bindings)))))))

(define-macro (while test . body)
  (let ((loop (gensym)))
    `(let ,loop () (when ,test ,@body (,loop)))))

(define-macro (assert test)
  `(unless ,test (error "this is not so:" ',test)))

(define-macro (delay form) `(%make-promise (lambda () ,form)))

; ---- lists ----

(define (map f first . others)
  (if (null? others)
      (let loop ((rest first) (done '()))
        (if (pair? rest)
            (loop (cdr rest) (cons (f (car rest)) done))
            (reverse done)))
      (let loop ((lists (cons first others)) (done '()))
        (if (%all-pairs? lists)
            (loop (%cdrs lists) (cons (apply f (%cars lists)) done))
            (reverse done)))))

(define (%all-pairs? lists)
  (or (null? lists) (and (pair? (car lists)) (%all-pairs? (cdr lists)))))
(define (%cars lists)
  (if (null? lists) '() (cons (car (car lists)) (%cars (cdr lists)))))
(define (%cdrs lists)
  (if (null? lists) '() (cons (cdr (car lists)) (%cdrs (cdr lists)))))

(define (for-each f first . others)
  (if (null? others)
      (let loop ((rest first))
        (when (pair? rest)
          (f (car rest))
          (loop (cdr rest))))
      (let loop ((lists (cons first others)))
        (when (%all-pairs? lists)
          (apply f (%cars lists))
          (loop (%cdrs lists))))))

(define (filter keep? list)
  (let loop ((rest list) (kept '()))
    (cond ((null? rest) (reverse kept))
          ((keep? (car rest)) (loop (cdr rest) (cons (car rest) kept)))
          (else (loop (cdr rest) kept)))))
(define (remove drop? list) (filter (lambda (x) (not (drop? x))) list))

(define (fold-left f start list)
  (let loop ((result start) (rest list))
    (if (null? rest) result (loop (f result (car rest)) (cdr rest)))))
(define (fold-right f start list)
  (fold-left (lambda (result x) (f x result)) start (reverse list)))
(define (reduce f start list)
  (if (null? list) start (fold-left f (car list) (cdr list))))

(define (append-map f list) (apply append (map f list)))
(define (find accept? list)
  (let loop ((rest list))
    (cond ((null? rest) #f)
          ((accept? (car rest)) (car rest))
          (else (loop (cdr rest))))))
(define (any accept? list)
  (let loop ((rest list))
    (and (pair? rest) (or (accept? (car rest)) (loop (cdr rest))))))
(define (every accept? list)
  (let loop ((rest list))
    (or (null? rest) (and (accept? (car rest)) (loop (cdr rest))))))
(define (count accept? list)
  (fold-left (lambda (n x) (if (accept? x) (+ n 1) n)) 0 list))
(define (delete x list) (remove (lambda (y) (equal? x y)) list))
(define (last-pair list)
  (if (pair? (cdr list)) (last-pair (cdr list)) list))
(define (list-copy list) (append list '()))
(define (list-head list n)
  (if (= n 0) '() (cons (car list) (list-head (cdr list) (- n 1)))))
(define (list-index accept? list)
  (let loop ((rest list) (i 0))
    (cond ((null? rest) #f)
          ((accept? (car rest)) i)
          (else (loop (cdr rest) (+ i 1))))))
(define (assv key list) (assoc key list))
(define (memv key list) (member key list))

; The list of n numbers from start on, each `step` more than the one before.
(define (iota n . options)
  (let ((start (if (pair? options) (car options) 0))
        (step (if (and (pair? options) (pair? (cdr options))) (cadr options) 1)))
    (let loop ((i (- n 1)) (list '()))
      (if (< i 0) list (loop (- i 1) (cons (+ start (* i step)) list))))))

(define (caar x) (car (car x)))
(define (cadr x) (car (cdr x)))
(define (cdar x) (cdr (car x)))
(define (cddr x) (cdr (cdr x)))
(define (caddr x) (car (cddr x)))
(define (cdddr x) (cdr (cddr x)))
(define (cadddr x) (car (cdddr x)))
(define first car)
(define second cadr)
(define third caddr)

; ---- sorting: stable, by merging ----

(define (%merge a b less?)
  (let loop ((a a) (b b) (done '()))
    (cond ((null? a) (%append-reversed done b))
          ((null? b) (%append-reversed done a))
          ((less? (car b) (car a)) (loop a (cdr b) (cons (car b) done)))
          (else (loop (cdr a) b (cons (car a) done))))))
(define (%append-reversed list tail)
  (if (null? list) tail (%append-reversed (cdr list) (cons (car list) tail))))

(define (sort items less?)
  (define (sort-some list n)
    (if (= n 1)
        (cons (car list) '())
        (let ((half (quotient n 2)))
          (%merge (sort-some list half) (sort-some (list-tail list half) (- n half)) less?))))
  (cond ((vector? items) (list->vector (sort (vector->list items) less?)))
        ((null? items) '())
        (else (sort-some items (length items)))))

; ---- vectors ----

(define (vector-fill! vector x)
  (let ((n (vector-length vector)))
    (do ((i 0 (+ i 1))) ((= i n)) (vector-set! vector i x))))
(define (vector-map f vector)
  (let* ((n (vector-length vector)) (result (make-vector n)))
    (do ((i 0 (+ i 1))) ((= i n) result)
      (vector-set! result i (f (vector-ref vector i))))))
(define (vector-for-each f vector)
  (let ((n (vector-length vector)))
    (do ((i 0 (+ i 1))) ((= i n)) (f (vector-ref vector i)))))
(define (vector-copy vector) (vector-map (lambda (x) x) vector))

; ---- numbers ----

(define (zero? n) (= n 0))
(define (positive? n) (> n 0))
(define (negative? n) (< n 0))
(define (even? n) (not (odd? n)))
(define (abs n) (if (< n 0) (- n) n))
(define (min first . others) (fold-left (lambda (a b) (if (< b a) b a)) first others))
(define (max first . others) (fold-left (lambda (a b) (if (> b a) b a)) first others))
(define (square n) (* n n))
(define (gcd a b) (if (= b 0) (abs a) (gcd b (remainder a b))))
(define (expt base n)
  (cond ((< n 0) (/ 1 (expt base (- n))))
        ((= n 0) 1)
        ((even? n) (square (expt base (quotient n 2))))
        (else (* base (expt base (- n 1))))))
(define exact->inexact inexact)
(define inexact->exact exact)

; ---- characters and strings ----

(define (char=? a b) (eq? a b))
(define (char<? a b) (< (char->integer a) (char->integer b)))
(define (char<=? a b) (not (char<? b a)))
(define (string . chars) (list->string chars))
(define (string>? a b) (string<? b a))
(define (string-null? s) (= (string-length s) 0))

(define (string-join strings separator)
  (if (null? strings)
      ""
      (apply string-append
             (car strings)
             (append-map (lambda (s) (list separator s)) (cdr strings)))))

; The parts of a string between separators.
(define (string-split s separator)
  (let loop ((from 0) (parts '()))
    (let ((at (string-search s separator from)))
      (if at
          (loop (+ at (string-length separator)) (cons (substring s from at) parts))
          (reverse (cons (substring s from) parts))))))

(define (string-reverse s) (list->string (reverse (string->list s))))

(define (with-output-to f)
  (let ((port (open-output-string)))
    (f port)
    (get-output-string port)))
(define (->string x) (with-output-to (lambda (port) (display x port))))
(define (print . things)
  (for-each display things)
  (newline))

; ---- tables ----

(define (table-update! table key f otherwise)
  (table-set! table key (f (table-ref table key otherwise))))
(define (table-keys table) (map car (table->list table)))
(define (table-values table) (map cdr (table->list table)))
(define (list->table pairs)
  (let ((table (make-table)))
    (for-each (lambda (pair) (table-set! table (car pair) (cdr pair))) pairs)
    table))

; ---- promises ----

(define (%make-promise thunk) (vector #f thunk '%promise))
(define (force promise)
  (unless (vector-ref promise 0)
    (let ((value ((vector-ref promise 1))))
      (unless (vector-ref promise 0)
        (vector-set! promise 1 value)
        (vector-set! promise 0 #t))))
  (vector-ref promise 1))

; ---- files ----

(define (load name)
  (for-each eval (read-from-string (string-append "(" (read-file name) "\n)"))))

; ---- tasks ----

(define-macro (parallel . forms)
  `(map join (list ,@(map (lambda (form) `(spawn (lambda () ,form))) forms))))

(define (parallel-map f list)
  (map join (map (lambda (x) (spawn (lambda () (f x)))) list)))

; Replaces the value of an atom by f of the value. f may be called more than once.
(define (atom-update! atom f)
  (let* ((old (atom-ref atom)) (new (f old)))
    (if (atom-exchange! atom old new) new (atom-update! atom f))))
; SPDX-License-Identifier: MIT
