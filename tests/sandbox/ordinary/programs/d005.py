import sqlite3

with sqlite3.connect("library.db") as db:
    db.executescript("""
        create table books (id integer primary key, title text, year int);
        create table loans (book int references books, member text, due text);
        insert into books (title, year) values ('Dune', 1965), ('Emma', 1815), ('Ulysses', 1922);
        insert into loans values (1, 'mia', '2024-05-01'), (3, 'leo', '2024-04-20'), (1, 'leo', '2024-03-02');
    """)
query = """
    select title, count(member) from books left join loans on loans.book = books.id
    group by books.id order by count(member) desc, title
"""
for title, count in db.execute(query):
    print(f"{title}: {count}")
