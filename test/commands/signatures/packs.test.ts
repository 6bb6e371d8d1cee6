import { describe, expect, it } from 'vitest';
import { beginSignaturePack } from '../../../commands/signatures/begin-signature-pack.ts';
import { importSignature } from '../../../commands/signatures/import-signature.ts';
import { recordSignaturePack } from '../../../commands/signatures/record-signature-pack.ts';
import { UPLOAD_LASTS_MS } from '../../../src/contexts/signatures/domain/pack.ts';
import { noSlotLeft } from '../../../src/platform/resources/slots.ts';
import type { ApplicationEvent } from '../../../src/contexts/families.ts';
import { given, NOW as now } from '../../dsl/given.ts';

const id = '33333333-3333-4333-8333-333333333333';
const packId = '44444444-4444-4444-8444-444444444444';
const next = '55555555-5555-4555-8555-555555555555';
const signature = {
  name: 'Kit',
  description: '',
  type: 'url',
  pattern: '*/login.php',
  patternType: 'wildcard',
  severity: 'medium',
} as const;
const kept = { id, slot: 7, ...signature, isEnabled: true, source: 'pack', packId } as const;
const created: ApplicationEvent = { type: 'SignatureCreated', data: kept };
const room = { room: { slot: 7 } };
const full = { room: noSlotLeft({ noun: 'signature', most: 2 }) };

describe('ImportSignature', () => {
  it('claims a slot for a new signature', () => {
    const outcome = given().when(importSignature, { id, packId, signature, slot: 7 }, room);
    outcome.then(created);
    outcome.thenTakes({ kind: 'signature.slot', value: '7' });
    expect(outcome.result()).toBe('imported');
  });

  it('is refused if there is no slot for a new one', () => {
    given()
      .when(importSignature, { id, packId, signature, slot: undefined }, full)
      .thenRefused('conflict', 'no more than 2 signatures');
  });

  it('updates a signature that differs in another version, also without a free slot, and keeps it disabled', () => {
    const off: ApplicationEvent = { type: 'SignatureUpdated', data: { id, isEnabled: false } };
    const outcome = given(created, off).when(
      importSignature,
      { id, packId: next, signature: { ...signature, severity: 'high' }, slot: undefined },
      full,
    );
    outcome.then({ type: 'SignatureUpdated', data: { id, severity: 'high', packId: next } });
    outcome.thenTakes();
    expect(outcome.result()).toBe('updated');
  });

  it('records nothing for unchanged signatures', () => {
    const outcome = given(created).when(importSignature, { id, packId: next, signature, slot: undefined }, full);
    outcome.thenNothing();
    expect(outcome.result()).toBe('skipped');
  });
});

const nameId = '66666666-6666-4666-8666-666666666666';
const pack = { packId, name: 'Kits', version: '1' };
const upload = { nameId, ...pack, digest: 'aa' };
const counts = { imported: 1, updated: 0, skipped: 0 };
const begunAt = (at: number, digest = 'aa') => ({
  type: 'SignaturePackBegun' as const,
  data: { ...pack, digest, begunAt: at },
});
const uploaded: ApplicationEvent = { type: 'SignaturePackUploaded', data: { ...pack, ...counts } };

describe('BeginSignaturePack', () => {
  it('starts once per file, however often it is sent', () => {
    given().when(beginSignaturePack, upload).then(begunAt(now));
    given(begunAt(now - 1))
      .when(beginSignaturePack, upload)
      .thenNothing();
  });

  it('rejects another file at the same time, of this version or another', () => {
    given(begunAt(now - 1))
      .when(beginSignaturePack, { ...upload, digest: 'bb' })
      .thenRefused('conflict', 'another file of this pack is being uploaded');
    given(begunAt(now - 1))
      .when(beginSignaturePack, { ...upload, packId: next, version: '2' })
      .thenRefused('conflict', 'another file of this pack is being uploaded');
  });

  it('lets another file replace an interrupted one', () => {
    given(begunAt(now - UPLOAD_LASTS_MS))
      .when(beginSignaturePack, { ...upload, digest: 'bb' })
      .then(begunAt(now, 'bb'));
  });

  it('accepts each version once', () => {
    given(begunAt(now - 1), uploaded)
      .when(beginSignaturePack, upload)
      .thenRefused('conflict');
    given(begunAt(now - 1), uploaded)
      .when(beginSignaturePack, { ...upload, packId: next, version: '2' })
      .then({ type: 'SignaturePackBegun', data: { ...pack, packId: next, version: '2', digest: 'aa', begunAt: now } });
  });
});

describe('RecordSignaturePack', () => {
  it('has no effect the second time', () => {
    given(begunAt(1))
      .when(recordSignaturePack, { ...upload, ...counts })
      .then(uploaded);
    given(begunAt(1), uploaded)
      .when(recordSignaturePack, { ...upload, ...counts })
      .thenRefused('conflict');
  });

  it('is refused after another file replaced it', () => {
    given(begunAt(1), begunAt(2, 'bb'))
      .when(recordSignaturePack, { ...upload, ...counts })
      .thenRefused('conflict');
  });
});
