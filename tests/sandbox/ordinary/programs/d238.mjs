const money = [{ who: "ann", paid: 60 }, { who: "bob", paid: 0 }, { who: "cy", paid: 15 }];
const share = money.reduce((sum, m) => sum + m.paid, 0) / money.length;
const balances = money.map(({ who, paid }) => ({ who, owes: share - paid }));
const debtors = balances.filter((b) => b.owes > 0).sort((a, b) => b.owes - a.owes);
const creditors = balances.filter((b) => b.owes < 0);
for (const debtor of debtors) {
  for (const creditor of creditors) {
    const amount = Math.min(debtor.owes, -creditor.owes);
    if (amount <= 0) continue;
    console.log(`${debtor.who} pays ${creditor.who} ${amount.toFixed(2)}`);
    debtor.owes -= amount;
    creditor.owes += amount;
  }
}
