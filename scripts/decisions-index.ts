import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** `node --import tsx scripts/decisions-index.ts` writes docs/decisions/README.md from the headings of the records. */
const FOLDER = fileURLToPath(new URL('../docs/decisions/', import.meta.url));

const INTRODUCTION = `# Decision records

Each record states a decision with its context and consequences. A record is not rewritten when a later one changes it;
the later one says what it changes. Decisions from before the records are in [one table](../decisions.md). Numbers have
gaps: some were reserved and not used.

To add a record, create \`NNNN-short-title.md\` with the next free number and the sections Context, Decision and
Consequences. Then run \`node --import tsx scripts/decisions-index.ts\`, which writes this page.

| Number | Decision | Date |
|---|---|---|
`;

/** A row of the table. Headings are `# 0001: Title`, with or without the colon. */
function row(file: string): string {
  const text = readFileSync(`${FOLDER}${file}`, 'utf8');
  const title = /^# \d{4}[:.]? +(.+)$/m.exec(text)?.[1];
  const date = /\b\d{4}-\d{2}-\d{2}\b/.exec(text)?.[0];
  if (!title || !date)
    throw new Error(`docs/decisions/${file}: needs a heading "# ${file.slice(0, 4)}: Title" and a date`);
  return `| ${file.slice(0, 4)} | [${title}](${file}) | ${date} |\n`;
}

const records = readdirSync(FOLDER).filter((name) => /^\d{4}-.+\.md$/.test(name));
writeFileSync(`${FOLDER}README.md`, INTRODUCTION + records.toSorted().map(row).join(''));
