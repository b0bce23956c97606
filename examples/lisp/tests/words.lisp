; Counting the words of a text that is put together at random, but always the same.
(define seed 12345)
(define (random n)
  (set! seed (modulo (* seed 48271) 2147483647))
  (modulo (quotient seed 1024) n))

(define syllables (list->vector '("ka" "lo" "mi" "ne" "ru" "ta" "shi" "vo")))
(define (syllable) (vector-ref syllables (random 8)))
(define (word) (apply string-append (map (lambda (i) (syllable)) (iota (+ 1 (random 3))))))
(define (sentence n) (string-append (string-join (map (lambda (i) (word)) (iota n)) " ") ". "))
(define text (apply string-append (map (lambda (i) (sentence (+ 3 (random 8)))) (iota 2000))))

(define (letter? c) (char-alphabetic? c))
(define (words-of text)
  (define n (string-length text))
  (let loop ((i 0) (start #f) (words '()))
    (cond ((= i n) (reverse (if start (cons (substring text start i) words) words)))
          ((letter? (string-ref text i)) (loop (+ i 1) (or start i) words))
          (start (loop (+ i 1) #f (cons (substring text start i) words)))
          (else (loop (+ i 1) #f words)))))

(define words (words-of text))
(define counts (make-table))
(for-each (lambda (w) (table-update! counts w (lambda (n) (+ n 1)) 0)) words)

(define by-count
  (sort (table->list counts)
        (lambda (a b) (or (> (cdr a) (cdr b)) (and (= (cdr a) (cdr b)) (string<? (car a) (car b)))))))
(print (length words) " words, " (table-count counts) " different, " (string-length text) " letters")
(for-each (lambda (pair) (print (cdr pair) " " (car pair))) (list-head by-count 5))
(print (fold-left + 0 (table-values counts)))
(print (length (filter (lambda (pair) (= (cdr pair) 1)) by-count)) " occur once")
(define again (string-join words " "))
(print (equal? words (string-split again " ")))
