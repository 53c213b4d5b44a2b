SELECT a FROM sales JOIN customers USING (id);
INSERT INTO sales VALUES (1);
DELETE FROM sales
