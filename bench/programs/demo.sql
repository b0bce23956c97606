-- What `make demo` profiles: a shop with customers and orders, filled, indexed and queried in memory.
PRAGMA temp_store = MEMORY;
CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, city TEXT, note TEXT);
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, day INTEGER, amount REAL, text TEXT);

WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
INSERT INTO customer SELECT i, 'customer ' || i, 'city ' || (i % 997), hex(randomblob(20)) FROM n;

WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000)
INSERT INTO orders SELECT i, 1 + (i * 7919) % 100000, i % 365, (i * 31 % 10000) / 100.0, 'order ' || hex(randomblob(12)) FROM n;

CREATE INDEX orders_by_customer ON orders(customer, day);
CREATE INDEX customer_by_city ON customer(city, name);

SELECT count(*), round(sum(amount), 2) FROM orders;
SELECT city, count(*) AS n, round(sum(amount), 2) FROM customer JOIN orders ON orders.customer = customer.id
  GROUP BY city ORDER BY sum(amount) DESC LIMIT 3;
SELECT name, group_concat(text, ', ') FROM customer JOIN orders ON orders.customer = customer.id
  WHERE city = 'city 42' GROUP BY customer.id ORDER BY length(group_concat(text, ', ')) DESC LIMIT 1;
SELECT day, max(amount), min(text) FROM orders WHERE text LIKE '%AB%' GROUP BY day ORDER BY 2 DESC LIMIT 3;
CREATE TABLE report AS SELECT city, day, sum(amount) AS amount FROM customer JOIN orders ON orders.customer = customer.id
  GROUP BY city, day;
SELECT count(*) FROM report;
DROP TABLE report;
DELETE FROM orders WHERE day < 180;
SELECT count(*) FROM orders;
