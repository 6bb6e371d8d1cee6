import { randomBytes } from 'node:crypto';

/** Gap lengths by name, in octets. */
export type Gaps = Readonly<Record<string, number>>;
export type Filling<G extends Gaps> = { readonly [Name in keyof G]: Buffer };

// Base64url, so that a marker is also valid text. It begins with a letter, so that an INTEGER keeps it octet for
// octet.
const marker = (length: number): Buffer =>
  Buffer.from(`A${randomBytes(length).toString('base64url')}`.slice(0, length), 'latin1');

function offsetsOf(layout: Buffer, sought: Buffer): number[] {
  const offsets: number[] = [];
  for (let at = layout.indexOf(sought); at >= 0; at = layout.indexOf(sought, at + sought.length)) offsets.push(at);
  return offsets;
}

/**
 * DER of one shape, built once with random markers in its gaps; afterwards, copies are filled in. A gap never changes
 * its length, so every length in the headers stays correct. A filling of another length is a RangeError.
 */
export function template<const G extends Gaps>(
  gaps: G,
  build: (markers: Filling<G>) => Buffer,
): (filling: Filling<G>) => Buffer {
  const names = Object.keys(gaps);
  const markers: Readonly<Record<string, Buffer>> = Object.fromEntries(
    names.map((name) => [name, marker(gaps[name] ?? 0)]),
  );
  const layout = build(markers as Filling<G>);
  const places = names.map((name) => ({
    name,
    length: gaps[name] ?? 0,
    offsets: offsetsOf(layout, markers[name] ?? Buffer.of()),
  }));
  return (filling) => {
    const der = Buffer.from(layout);
    for (const { name, length, offsets } of places) {
      const value = filling[name];
      if (value?.length !== length) throw new RangeError(`${name} must be ${length} octets`);
      for (const offset of offsets) der.set(value, offset);
    }
    return der;
  };
}
