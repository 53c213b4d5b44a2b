class ValidationError extends Error {
  constructor(field, message, options) {
    super(`${field}: ${message}`, options);
    this.name = "ValidationError";
    this.field = field;
  }
}
const validate = (user) => {
  const problems = [];
  if (!user.email?.includes("@")) problems.push(new ValidationError("email", "is not an address"));
  if (!(user.age >= 18)) problems.push(new ValidationError("age", "must be 18 at least"));
  if (problems.length) throw new AggregateError(problems, "invalid user");
  return true;
};
console.log(validate({ email: "a@example.com", age: 20 }));
try {
  validate({ email: "nobody", age: 3 });
} catch (error) {
  console.log(error.message, error.errors.map(String), error instanceof AggregateError);
}
process.on("uncaughtException", (error) => console.log("caught late:", error.message));
setTimeout(() => { throw new Error("from a timer"); }, 1);
