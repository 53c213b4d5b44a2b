class Account:
    def __init__(self, owner, balance=0):
        self.owner, self._balance = owner, balance

    @property
    def balance(self):
        return self._balance

    def withdraw(self, amount):
        if amount > self._balance:
            raise ValueError(f"{self.owner} has only {self._balance}")
        self._balance -= amount

    def __repr__(self):
        return f"Account({self.owner!r}, {self._balance})"


account = Account("Ruth", 100)
account.withdraw(30)
print(account)
try:
    account.withdraw(100)
except ValueError as error:
    print("refused:", error)
try:
    account.balance = 5
except AttributeError:
    print("read only")
