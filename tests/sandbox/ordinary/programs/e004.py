menu = {"soup": 4.5, "pasta": 9.0, "cake": 3.75}
order = {"soup": 2, "cake": 1}
bill = {dish: menu[dish] * count for dish, count in order.items()}
for dish, price in bill.items():
    print(f"{order[dish]} x {dish:<6}{price:>7.2f}")
print(f"{'total':<10}{sum(bill.values()):>7.2f}")
