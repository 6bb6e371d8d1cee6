/**
 * Strict DER reading (X.690 §10) for untrusted input. node-forge's reader also accepts BER, in which one value has
 * many encodings; here each value has one encoding, and all others throw DerError. Nothing recurses: a caller
 * descends by its schema.
 */
export class DerError extends Error {
  constructor(reason: string) {
    super(`not DER: ${reason}`);
    this.name = 'DerError';
  }
}

/** One value and its position. Slices are created on access only, because most elements are merely skipped. */
export class Element {
  /** The whole identifier octet: class, constructed bit and number. */
  readonly tag: number;
  /** Octets of header and content together. */
  readonly length: number;
  readonly #source: Buffer;
  readonly #offset: number;
  readonly #start: number;

  constructor(source: Buffer, offset: number, start: number, end: number) {
    this.tag = source[offset] ?? 0;
    this.length = end - offset;
    this.#source = source;
    this.#offset = offset;
    this.#start = start;
  }

  get content(): Buffer {
    return this.#source.subarray(this.#start, this.#offset + this.length);
  }

  /** Header and content, unchanged. */
  get der(): Buffer {
    return this.#source.subarray(this.#offset, this.#offset + this.length);
  }
}

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;
export const primitiveContext = (number: number): number => 0x80 | number;
export const constructedContext = (number: number): number => 0xa0 | number;

function lengthAt(bytes: Buffer, offset: number): { length: number; start: number } {
  const first = bytes[offset];
  if (first === undefined) throw new DerError('cut short');
  if (first < 0x80) return { length: first, start: offset + 1 };
  const size = first - 0x80;
  // Three octets describe 16 MiB, far more than any accepted input.
  if (size < 1 || size > 3 || offset + 1 + size > bytes.length) throw new DerError('length');
  const length = bytes.readUIntBE(offset + 1, size);
  if (length < 0x80 || length < 256 ** (size - 1)) throw new DerError('length is not minimal');
  return { length, start: offset + 1 + size };
}

function elementAt(bytes: Buffer, offset: number): Element {
  const tag = bytes[offset];
  if (tag === undefined) throw new DerError('cut short');
  if ((tag & 0x1f) === 0x1f) throw new DerError('long tag');
  const { length, start } = lengthAt(bytes, offset + 1);
  if (start + length > bytes.length) throw new DerError('cut short');
  return new Element(bytes, offset, start, start + length);
}

/** The consecutive elements in `bytes`. */
export function elements(bytes: Buffer): Element[] {
  const found: Element[] = [];
  for (let offset = 0; offset < bytes.length;) {
    const element = elementAt(bytes, offset);
    found.push(element);
    offset += element.length;
  }
  return found;
}

/** Reads `bytes` as exactly one element, with no trailing octets; with `tag`, of this tag. */
export function readDer(bytes: Buffer, tag?: number): Element {
  const element = elementAt(bytes, 0);
  if (element.length !== bytes.length) throw new DerError('trailing octets');
  if (tag !== undefined && element.tag !== tag) throw new DerError('unexpected tag');
  return element;
}

/** Reads the members of a SEQUENCE in order. */
export class SequenceReader {
  readonly #members: readonly Element[];
  #next = 0;

  constructor(container: Element) {
    this.#members = elements(container.content);
  }

  takeIf(tag: number): Element | undefined {
    const member = this.#members[this.#next];
    if (member?.tag !== tag) return undefined;
    this.#next += 1;
    return member;
  }

  take(tag: number): Element {
    const member = this.takeIf(tag);
    if (!member) throw new DerError('missing field');
    return member;
  }

  takeAny(): Element {
    const member = this.#members[this.#next];
    if (!member) throw new DerError('missing field');
    this.#next += 1;
    return member;
  }

  /** Throws unless every member was taken. */
  end(): void {
    if (this.#next !== this.#members.length) throw new DerError('unexpected field');
  }
}
