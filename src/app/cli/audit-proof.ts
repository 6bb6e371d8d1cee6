import { exportAuditRows } from '../../../queries/audit/export-audit-log.ts';
import type { ChainOwner } from '../../contexts/audit/chain-owners.ts';
import { continuesChain, entryAtPosition } from '../../contexts/audit/diagnosis.ts';
import { GENESIS, type ChainHead } from '../../contexts/audit/domain/entry.ts';
import { ProofLines } from '../../contexts/audit/domain/proof.ts';
import type { ProofKey } from '../../contexts/audit/proof-key.ts';
import { verifyTenant, type VerifyDependencies } from '../../contexts/audit/verify.ts';
import type { EventCodec } from '../../platform/eventstore/codec.ts';
import { sayVerdict, verdictOf } from './chain-verdict.ts';
import { UnmetExpectation, type Report } from './outcome.ts';
import type { Output } from './output.ts';

export interface ProofDependencies extends VerifyDependencies {
  readonly codec: EventCodec;
  readonly proofKey: ProofKey;
}

/** Prints the lines of a proof and the signed statement about them; of a chain that is invalid only the verdict, as a warning. */
export async function auditProof(services: ProofDependencies, output: Output, owner: ChainOwner): Promise<Report> {
  const verdict = verdictOf(owner, await verifyTenant(services, owner.id));
  if (!verdict.valid) {
    sayVerdict(verdict, 'entries', (line) => output.warn(line));
    return { result: { chains: [verdict] }, isFinding: true };
  }
  const { chainKey, codec, proofKey } = services;
  const proof = new ProofLines();
  let before: ChainHead = GENESIS;
  for await (const { row, record } of exportAuditRows(services.reads(owner.id), (events) => codec.reveal(events))) {
    // What follows was read after the verification.
    if (!continuesChain(chainKey, before, row))
      throw new UnmetExpectation(`entry ${row.sequence} does not continue the audit chain: run castellan audit verify`);
    before = { sequence: row.sequence, hash: row.hash };
    output.record(proof.line({ ...entryAtPosition(row), hash: row.hash }, record));
  }
  const statement = proof.statement(owner.id, new Date());
  const text = JSON.stringify(statement);
  const { publicKey } = proofKey;
  output.record({ statement: text, publicKey, signature: proofKey.sign(text) });
  return { result: { ...statement, publicKey } };
}
