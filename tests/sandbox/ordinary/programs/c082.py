from sqlalchemy import create_engine
try:
    create_engine("postgresql://app:app@localhost:5432/shop").connect()
except Exception as e:
    print("no database here")
