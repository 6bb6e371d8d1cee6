import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { FiledSeals, HEADS_BYTES, type FiledSeal } from './filed-seals.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { fileText, NotAFile } from '../../platform/file-content.ts';
import { isFound, leadsNowhere } from '../../platform/is-found.ts';
import { mayWrite } from '../../platform/may-write.ts';

/** What to do about lines that are no seals. */
export const damagedHeads = (lines: number): string =>
  `audit-heads.jsonl has ${lines} ${lines === 1 ? 'line that is no sealed head' : 'lines that are no sealed heads'}: what they were proves nothing any more; put back a copy, or remove ${lines === 1 ? 'the line' : 'the lines'}`;

/** Above this size, old seals of a tenant are dropped: the newest ones cover everything before them. */
const COMPACT_BYTES = 8 * 1024 * 1024;
const KEPT = 16;

/**
 * Seals outside both databases, one JSON object a line. They reveal a restored older copy of the databases, or seals
 * that were removed from the log. Lines are appended and flushed; a line torn by a crash is ignored.
 */
export class SealFile {
  readonly #path: string;
  #compactAbove = COMPACT_BYTES;

  constructor(dataDir: string, name = 'audit-heads.jsonl') {
    this.#path = join(dataDir, name);
  }

  append(seals: readonly FiledSeal[]): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    // The leading line break ends a line that a crash may have torn.
    writeFlushed(this.#path, 'a', `\n${linesOf(seals)}`);
    if (statSync(this.#path).size > this.#compactAbove) this.#compact();
  }

  /** A tenant's seals by ascending sequence, genuine or not. */
  sealsOf(tenantId: TenantId): Partial<FiledSeal>[] {
    return this.#read().sealsOf(tenantId);
  }

  /** The tenants that have a seal. */
  owners(): TenantId[] {
    return this.#read().owners();
  }

  /** The newest seal of every tenant. */
  newest(): Map<TenantId, FiledSeal> {
    return this.#read().newest();
  }

  /** Every tenant's seals by ascending sequence, genuine or not. */
  byOwner(): Map<TenantId, FiledSeal[]> {
    return this.#read().byOwner();
  }

  /**
   * How many lines are neither a seal nor what a crash left of one. The file is damaged then: seals that it held may be gone.
   */
  damagedLines(): number {
    return this.#read().damagedLines();
  }

  /** A file that the next seal may have to be written to, and that this user may not write. */
  unwritable(): string | undefined {
    return [this.#path, `${this.#path}.next`, `${this.#path}.dropped`].find((each) => isFound(each) && !mayWrite(each));
  }

  /**
   * Removes seals that a restored log does not contain. They are kept in a second file as evidence of what was lost.
   */
  setAside(isLost: (seal: FiledSeal) => boolean): FiledSeal[] {
    const all = this.#read().all();
    const dropped = all.filter(isLost);
    if (dropped.length === 0) return [];
    writeFlushed(`${this.#path}.dropped`, 'a', `\n${linesOf(dropped)}`);
    this.#replace(all.filter((seal) => !dropped.includes(seal)));
    return dropped;
  }

  #replace(seals: readonly FiledSeal[]): void {
    const next = `${this.#path}.next`;
    writeFlushed(next, 'w', linesOf(seals));
    renameSync(next, this.#path);
  }

  /** None without a file. What cannot be read, or is no file, throws: it may hide seals. */
  #read(): FiledSeals {
    refuseLinkToNothing(this.#path);
    return new FiledSeals(isFound(this.#path) ? fileText(this.#path, HEADS_BYTES) : '');
  }

  #compact(): void {
    this.#replace([...this.byOwner().values()].flatMap((seals) => seals.slice(-KEPT)));
    this.#compactAbove = Math.max(COMPACT_BYTES, 2 * statSync(this.#path).size);
  }
}

const linesOf = (seals: readonly FiledSeal[]) => seals.map((seal) => `${JSON.stringify(seal)}\n`).join('');

/** What it led to may come back, with its seals: a file system that is not mounted, for example. */
function refuseLinkToNothing(path: string): void {
  if (leadsNowhere(path)) throw new NotAFile(path, 'a link to nothing');
}

function writeFlushed(path: string, flag: 'a' | 'w', text: string): void {
  refuseLinkToNothing(path);
  const end = flag === 'a' ? constants.O_APPEND : constants.O_TRUNC;
  // Without `O_NONBLOCK`, to open a named pipe means to wait for somebody who reads from it.
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK | end, 0o600);
  try {
    if (!fstatSync(file).isFile()) throw new NotAFile(path, 'no file');
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
