; How many ways there are to place n queens, by lists of columns.
(define (safe? column placed)
  (let loop ((rest placed) (distance 1))
    (or (null? rest)
        (and (not (= (car rest) column))
             (not (= (abs (- (car rest) column)) distance))
             (loop (cdr rest) (+ distance 1))))))

(define (queens n)
  (define (place row placed)
    (if (= row n)
        1
        (fold-left + 0 (map (lambda (column) (if (safe? column placed) (place (+ row 1) (cons column placed)) 0))
                            (iota n)))))
  (place 0 '()))

(define (solutions n)
  (define (extend boards row)
    (if (= row n)
        boards
        (extend (append-map (lambda (board)
                              (map (lambda (column) (cons column board))
                                   (filter (lambda (column) (safe? column board)) (iota n))))
                            boards)
                (+ row 1))))
  (extend '(()) 0))

(print (map queens '(1 2 3 4 5 6 7 8)))
(print (length (solutions 8)) " " (car (solutions 6)))
