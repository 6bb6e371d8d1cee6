// node --import tsx scripts/record-examples.ts <test files…> [--better] Runs the tests and records examples for the API
// description: one exchange for each operation that has none, or whose example no longer fits its schema. With
// `--better`, an example also replaces one that says less.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExampleCandidate } from '../test/dsl/example-recorder.ts';
import { scoreOf, type RecordedExample } from '../test/dsl/example-score.ts';
import { exampleProblems, missingExamples } from '../test/dsl/example-check.ts';

const FILE = fileURLToPath(new URL('../src/app/http/openapi/examples.json', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'castellan-examples-'));
const given = process.argv.slice(2);
const files = given.filter((one) => !one.startsWith('--'));
if (files.length === 0) {
  process.stderr.write('name the test files that call the operations, such as test/app/http/groups\n');
  process.exit(2);
}

spawnSync('npx', ['vitest', 'run', ...files], { stdio: 'inherit', env: { ...process.env, RECORD_EXAMPLES: folder } });
const candidates = readdirSync(folder)
  .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
  .filter(Boolean)
  .map((line) => JSON.parse(line) as ExampleCandidate)
  .toSorted((one, other) => other.score - one.score || (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
rmSync(folder, { recursive: true, force: true });

const examples = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, RecordedExample>;
const isKept = (operationId: string, { score }: ExampleCandidate): boolean => {
  const known = examples[operationId];
  if (known === undefined || exampleProblems(operationId, known).length > 0) return false;
  return !given.includes('--better') || scoreOf(known) >= score;
};
let recorded = 0;
/** Why the last candidate of an operation was no example. */
const refused = new Map<string, string>();
for (const candidate of candidates) {
  const { operationId, example } = candidate;
  if (isKept(operationId, candidate)) continue;
  const [problem] = exampleProblems(operationId, example);
  if (problem !== undefined) {
    refused.set(operationId, problem);
    continue;
  }
  examples[operationId] = example;
  recorded += 1;
}
for (const [operationId, problem] of refused)
  if (examples[operationId] === undefined) process.stdout.write(`${operationId} was called, but ${problem}\n`);
const sorted = Object.fromEntries(Object.entries(examples).toSorted(([one], [other]) => (one < other ? -1 : 1)));
writeFileSync(FILE, `${JSON.stringify(sorted, null, 1)}\n`);
const missing = missingExamples(sorted);
process.stdout.write(`${recorded} recorded, ${missing.length} missing: ${missing.join(', ')}\n`);
