import { createServer, type AddressInfo, type Socket } from 'node:net';
import { BerReader, BerWriter } from 'ldapts';

/** One request, as far as the peer reads it. */
export interface LdapRequest {
  readonly id: number;
  /** The tag of the operation: 0x60 bind, 0x63 search. */
  readonly operation: number;
  /** How many searches came before on this connection. */
  readonly searches: number;
}
export type LdapBehaviour = (request: LdapRequest, socket: Socket) => void;

const PAGED = '1.2.840.113556.1.4.319';

const message = (id: number, write: (writer: BerWriter) => void): Buffer => {
  const writer = new BerWriter();
  writer.startSequence();
  writer.writeInt(id);
  write(writer);
  writer.endSequence();
  return writer.buffer;
};

const result = (writer: BerWriter, tag: number, code = 0): void => {
  writer.startSequence(tag);
  writer.writeEnumeration(code);
  writer.writeString('');
  writer.writeString('');
  writer.endSequence();
};

export const bindResponse = (id: number): Buffer => message(id, (writer) => result(writer, 0x61));

export const entry = (
  id: number,
  dn: string,
  attributes: Readonly<Record<string, readonly (string | Buffer)[]>>,
): Buffer =>
  message(id, (writer) => {
    writer.startSequence(0x64);
    writer.writeString(dn);
    writer.startSequence();
    for (const [name, values] of Object.entries(attributes)) {
      writer.startSequence();
      writer.writeString(name);
      writer.startSequence(0x31);
      for (const value of values) writer.writeBuffer(Buffer.from(value as string), 0x04);
      writer.endSequence();
      writer.endSequence();
    }
    writer.endSequence();
    writer.endSequence();
  });

/** The end of a search; undefined cookie: without the control of pages. */
export const done = (id: number, cookie: string | undefined, code = 0): Buffer =>
  message(id, (writer) => {
    result(writer, 0x65, code);
    if (cookie === undefined) return;
    const value = new BerWriter();
    value.startSequence();
    value.writeInt(0);
    value.writeString(cookie);
    value.endSequence();
    writer.startSequence(0xa0);
    writer.startSequence();
    writer.writeString(PAGED);
    writer.writeBuffer(value.buffer, 0x04);
    writer.endSequence();
    writer.endSequence();
  });

/** A person's entry with an id of its own. */
export const someone = (
  id: number,
  n: number,
  over: Readonly<Record<string, readonly (string | Buffer)[]>> = {},
): Buffer =>
  entry(id, `uid=u${n},dc=acme`, {
    entryUUID: [`00000000-0000-4000-8000-${String(n).padStart(12, '0')}`],
    uid: [`u${n}`],
    cn: [`Person ${n}`],
    mail: [`u${n}@acme.example`],
    ...over,
  });

/** A server that accepts every bind and does with a search what the test wants. */
export async function startHostileLdap() {
  let behaviour: LdapBehaviour = ({ id }, socket) => void socket.write(done(id, ''));
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let searches = 0;
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      const reader = new BerReader(chunk);
      reader.readSequence();
      const id = reader.readInt()!;
      const operation = reader.peek()!;
      if (operation === 0x60) return void socket.write(bindResponse(id));
      if (operation !== 0x63) return;
      behaviour({ id, operation, searches }, socket);
      searches += 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    onSearch: (other: LdapBehaviour) => void (behaviour = other),
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
