import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SealedHead } from './domain/sealed-head.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { isKept, readKept } from '../../platform/kept-file.ts';

export type FiledSeal = SealedHead & { readonly tenantId: TenantId };

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
    return this.#read((line) => line.includes(tenantId)).filter((seal) => seal.tenantId === tenantId);
  }

  /** The tenants that have a seal. */
  owners(): TenantId[] {
    return [...this.newest().keys()];
  }

  /** The newest seal of every tenant. */
  newest(): Map<TenantId, FiledSeal> {
    return new Map(this.#read(() => true).map((seal) => [seal.tenantId, seal]));
  }

  /**
   * Removes seals that a restored log does not contain. They are kept in a second file as evidence of what was lost.
   */
  setAside(isLost: (seal: FiledSeal) => boolean): FiledSeal[] {
    const all = this.#read(() => true);
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

  #read(wanted: (line: string) => boolean): FiledSeal[] {
    if (!isKept(this.#path)) return [];
    const lines = readKept(this.#path, 'it holds the sealed heads of audit chains; restore it from a backup')
      .split('\n')
      .filter((line) => line !== '' && wanted(line));
    return lines.flatMap(parsed).sort((a, b) => a.sequence - b.sequence);
  }

  #compact(): void {
    const byTenant = new Map<TenantId, FiledSeal[]>();
    for (const seal of this.#read(() => true))
      byTenant.set(seal.tenantId, [...(byTenant.get(seal.tenantId) ?? []), seal].slice(-KEPT));
    this.#replace([...byTenant.values()].flat());
    this.#compactAbove = Math.max(COMPACT_BYTES, 2 * statSync(this.#path).size);
  }
}

const linesOf = (seals: readonly FiledSeal[]) => seals.map((seal) => `${JSON.stringify(seal)}\n`).join('');

function parsed(line: string): FiledSeal[] {
  try {
    const seal = JSON.parse(line) as FiledSeal | null;
    return typeof seal?.sequence === 'number' ? [seal] : [];
  } catch {
    return [];
  }
}

function writeFlushed(path: string, flag: 'a' | 'w', text: string): void {
  const file = openSync(path, flag, 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
