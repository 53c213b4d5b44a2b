const hash = require('crypto').createHash('md5').update('a').digest('hex');
const resetToken = Math.random().toString(36);
db.query(`SELECT * FROM users WHERE id = ${id}`);
element.innerHTML = comment;
const agent = { rejectUnauthorized: false };
