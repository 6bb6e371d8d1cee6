import { createHash, hash } from 'node:crypto';
import { canonicalEntry, type AuditEntry } from './entry.ts';

/**
 * An audit log that others can check, without a key of the installation (OP-605): a line for each entry, and a signed statement
 * about all lines. `examples/audit-proof/verify.mjs` checks it.
 */
export const PROOF_FORMAT = 'castellan-audit-proof-1';

export interface ProofLine {
  readonly sequence: number;
  /** Hex SHA-256 of the text that the entry's hash authenticates. The same after people of the entry were erased. */
  readonly content: string;
  /** Hex SHA-256 of the previous line's `chain` and this `content`, both as hex. Before the first line: 64 zeros. */
  readonly chain: string;
  /** The entry as a reader sees it. */
  readonly record: object;
}

export interface ProofStatement {
  readonly format: typeof PROOF_FORMAT;
  /** Id of the tenant or organization. */
  readonly owner: string;
  readonly entries: number;
  /** `chain` of the last line. A later proof of the same owner has it in the same line. */
  readonly chain: string;
  /** `hash` of the last entry: the head of the audit chain. */
  readonly head: string;
  /** Hex SHA-256 of all lines, each with its line feed. */
  readonly lines: string;
  /** ISO 8601. */
  readonly madeAt: string;
}

/** Makes the lines of one owner's proof, in order, and then the statement about them. */
export class ProofLines {
  readonly #digest = createHash('sha256');
  #chain = '0'.repeat(64);
  #head = '0'.repeat(64);
  #entries = 0;

  /** The text of the entry's line. Throws if an entry before it is missing. */
  line(entry: AuditEntry, record: object): ProofLine {
    const { hash: head, ...unhashed } = entry;
    if (entry.sequence !== this.#entries + 1 || entry.previousHash !== this.#head)
      throw new Error(`entry ${entry.sequence} does not follow entry ${this.#entries}`);
    const content = hash('sha256', canonicalEntry(unhashed));
    this.#chain = hash('sha256', this.#chain + content);
    this.#head = head;
    this.#entries = entry.sequence;
    const line = { sequence: entry.sequence, content, chain: this.#chain, record };
    this.#digest.update(`${JSON.stringify(line)}\n`);
    return line;
  }

  statement(owner: string, madeAt: Date): ProofStatement {
    return {
      format: PROOF_FORMAT,
      owner,
      entries: this.#entries,
      chain: this.#chain,
      head: this.#head,
      lines: this.#digest.copy().digest('hex'),
      madeAt: madeAt.toISOString(),
    };
  }
}
