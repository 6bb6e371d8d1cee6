#!/usr/bin/env node
// node verify.mjs PROOF [--key PUBLIC_KEY] [--earlier PROOF]
//
// Checks what `castellan audit proof` printed. Needs Node 20 and nothing of the installation. `--key` is the public key that
// you got from the operator, in base64. `--earlier` is a proof of the same owner that you kept: the new one must begin with
// the same entries. Exit codes: 0 it holds, 1 it does not, 2 wrong usage, 3 a file cannot be read.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const FORMAT = 'castellan-audit-proof-1';
const NOTHING = '0'.repeat(64);
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

class DoesNotHold extends Error {}
const expect = (isSo, otherwise) => {
  if (!isSo) throw new DoesNotHold(otherwise);
};

function parsed(text, at) {
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {}
  throw new DoesNotHold(`line ${at} is not an object in JSON`);
}

function isSignedBy({ publicKey, statement, signature }) {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
    return verify(null, Buffer.from(statement), key, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}

/** Checks one file by itself. Returns its statement, its key, and the chain after `asked` entries. */
async function read(path, asked) {
  const digest = createHash('sha256');
  let [chain, head, entries, chainAsked, signed] = [NOTHING, NOTHING, 0, undefined, undefined];
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    const line = parsed(text, entries + 1);
    // `--json` adds a line with the outcome.
    if (signed) expect(line.command === 'audit proof', 'something follows the signed statement');
    else if ('signature' in line) signed = line;
    else {
      const record = line.record ?? {};
      expect(line.sequence === entries + 1, `entry ${entries + 1} is missing`);
      expect(line.chain === sha256(chain + line.content), `entry ${line.sequence} does not continue the chain`);
      expect(record.sequence === line.sequence, `line ${line.sequence} shows another entry`);
      expect(record.previousHash === head, `entry ${line.sequence} does not follow the one before`);
      [chain, head, entries] = [line.chain, record.hash, line.sequence];
      if (entries === asked) chainAsked = chain;
      digest.update(`${text}\n`);
    }
  }
  expect(signed, 'the file has no signed statement: it is not complete');
  expect(isSignedBy(signed), 'the signature does not belong to the statement');
  const statement = parsed(signed.statement, entries + 1);
  expect(statement.format === FORMAT, `the format is not ${FORMAT}`);
  expect(statement.entries === entries, `the statement is about ${statement.entries} entries`);
  expect(statement.chain === chain && statement.head === head, 'the statement is about other entries');
  expect(statement.lines === digest.digest('hex'), 'a line was changed');
  return { ...statement, publicKey: signed.publicKey, chainAsked };
}

async function check(path, { key, earlier }) {
  const before = earlier === undefined ? undefined : await read(earlier);
  const now = await read(path, before?.entries);
  if (key !== undefined) expect(now.publicKey === key, 'it was signed with another key');
  if (before) {
    expect(before.publicKey === now.publicKey, 'the two were signed with different keys');
    expect(before.owner === now.owner, 'the two are of different owners');
    expect(
      before.entries === 0 || now.chainAsked === before.chain,
      `its first ${before.entries} entries are not those of the earlier proof: history was rewritten`,
    );
  }
  return now;
}

let asked;
try {
  asked = parseArgs({ allowPositionals: true, options: { key: { type: 'string' }, earlier: { type: 'string' } } });
} catch (error) {
  console.error(error.message);
}
if (asked?.positionals.length !== 1) {
  console.error('usage: node verify.mjs PROOF [--key PUBLIC_KEY] [--earlier PROOF]');
  process.exit(2);
}
try {
  const { owner, entries, madeAt, publicKey } = await check(asked.positionals[0], asked.values);
  console.log(`holds: ${entries} entries of ${owner}, made at ${madeAt}`);
  if (asked.values.key === undefined) console.log(`signed with ${publicKey}: compare it with the key of the operator`);
} catch (error) {
  console.error(error instanceof DoesNotHold ? `DOES NOT HOLD: ${error.message}` : `cannot check: ${error.message}`);
  process.exit(error instanceof DoesNotHold ? 1 : 3);
}
