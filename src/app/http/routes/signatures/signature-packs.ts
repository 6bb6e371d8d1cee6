import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { beginSignaturePack } from '../../../../../commands/signatures/begin-signature-pack.ts';
import { importSignature } from '../../../../../commands/signatures/import-signature.ts';
import { recordSignaturePack } from '../../../../../commands/signatures/record-signature-pack.ts';
import { listSignaturePacks, signaturePackView } from '../../../../../queries/signatures/list-packs.ts';
import {
  foldedName,
  packContent,
  packedSignature,
  type PackedSignature,
} from '../../../../contexts/signatures/domain/pack-content.ts';
import { signatures } from '../../../../contexts/signatures/domain/signature.resource.ts';
import { derivedId } from '../../../../platform/execution/derived-id.ts';
import { FailureError } from '../../../../platform/kernel/failure.ts';
import { inParallel } from '../../../../platform/kernel/in-parallel.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import { admin } from '../../access.ts';
import { jsonOf } from './json-file.ts';
import { noSlotLeft, slotsLeft, type SlotPorts } from '../../../../platform/resources/slots.ts';
import { routeWith, type HandlerContext, type RouteGroup } from '../../route.ts';
import { fieldsOfIssues, MAX_FIELDS, othersThan, readInput, refuseFields } from '../../wrong-fields.ts';
import type { Limits } from '../../../config/limits.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';

export interface SignaturePacksRouteDependencies {
  readonly loader: AggregateLoader;
  readonly ports: SlotPorts;
  readonly limits: Pick<Limits, 'packs'>;
}

const route = routeWith<SignaturePacksRouteDependencies>();

const base = '/api/v1/admin/signatures';
/** Choice OP-210. */
const MAX_BYTES = 10 * 1024 * 1024;
/** Enough for the maximum number of signatures of a tenant, including unknown members. */
const BOUNDS = { depth: 8, parts: 100_000 };
const AT_ONCE = 25;

interface Pack {
  readonly name: string;
  readonly version: string;
  readonly signatures: readonly PackedSignature[];
}

/** Parses a pack. Throws 400 that names `file` or the invalid fields within it. */
async function packIn(file: Buffer): Promise<Pack> {
  const content = jsonOf(file, 'file', BOUNDS);
  const { data: pack, wrong: ofPack } = readInput('file', packContent, content);
  const wrong = [...ofPack];
  const said: PackedSignature[] = [];
  for (const [at, one] of (pack?.signatures ?? listedIn(content)).entries()) {
    // Compiling patterns takes time, so let other requests run in between.
    if (at % AT_ONCE === 0) await setImmediate();
    // One schema for all: making one for each, with its place in the pack, takes 30 times as long.
    const signature = packedSignature.safeParse(one, { reportInput: true });
    if (signature.success) said.push(signature.data);
    else wrong.push(...othersThan(ofPack, fieldsOfIssues('file', placedAt(at, signature.error))));
    if (wrong.length >= MAX_FIELDS) break;
  }
  refuseFields(wrong);
  return { ...pack!, signatures: said };
}

/** The signatures of a pack whose head is wrong: they are judged with it. */
const listedIn = (content: unknown): readonly unknown[] =>
  packContent.pick({ signatures: true }).safeParse(content).data?.signatures ?? [];

const placedAt = (at: number, { issues }: z.ZodError): z.ZodError =>
  new z.ZodError(issues.map((issue) => ({ ...issue, path: ['signatures', String(at), ...issue.path] })));

/** One signature per name: the first in the pack counts. */
const namedOnce = (signatures: readonly PackedSignature[]): ReadonlyMap<string, PackedSignature> =>
  new Map(signatures.toReversed().map((signature) => [foldedName(signature.name), signature]));

/** A slot for each new signature. Throws 409 before anything is written if not all of them fit. */
async function slotsFor(
  { loader, ports }: SignaturePacksRouteDependencies,
  tenantId: TenantId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { declared } = signatures;
  const exists = new Set<string>();
  await inParallel(AT_ONCE, ids, async (id) => {
    if ((await loader.load(signatures.aggregate, signatures.stream(tenantId, id))).exists) exists.add(id);
  });
  const fresh = ids.filter((id) => !exists.has(id));
  const left = await slotsLeft(declared, tenantId, ports, fresh.length);
  if (fresh.length > left.length) throw new FailureError(noSlotLeft(declared));
  return new Map(fresh.map((id, at) => [id, left[at]!]));
}

async function takePack(
  {
    run,
    services,
  }: Pick<
    HandlerContext<undefined, undefined, unknown, undefined, SignaturePacksRouteDependencies>,
    'run' | 'services'
  >,
  tenantId: TenantId,
  file: Buffer,
) {
  const { name, version, signatures: said } = await packIn(file);
  const packId = derivedId('signature-pack', tenantId, foldedName(name), version);
  const upload = {
    nameId: derivedId('signature-pack', tenantId, foldedName(name)),
    packId,
    name,
    version,
    digest: createHash('sha256').update(file).digest('hex'),
  };
  const once = [...namedOnce(said)].map(([key, signature]) => ({
    id: derivedId('signature', tenantId, foldedName(name), key),
    packId,
    signature,
  }));
  const slots = await slotsFor(
    services,
    tenantId,
    once.map(({ id }) => id),
  );
  await run(beginSignaturePack, upload);
  const counts = { imported: 0, updated: 0, skipped: said.length - once.length };
  for (let from = 0; from < once.length; from += AT_ONCE) {
    const batch = once.slice(from, from + AT_ONCE).map(async (one) => {
      const { result } = await run(importSignature, { ...one, slot: slots.get(one.id) }, undefined, one.id);
      counts[result] += 1;
    });
    const refused = (await Promise.allSettled(batch)).find((outcome) => outcome.status === 'rejected');
    if (refused) throw refused.reason;
  }
  await run(recordSignaturePack, { ...upload, ...counts });
  return { packId, name, version, ...counts };
}

export const signaturePackRoutes: RouteGroup<SignaturePacksRouteDependencies> = {
  area: 'signatures',
  routes: [
    route({
      method: 'POST',
      path: `${base}/upload`,
      isBulk: true,
      access: admin('signatures:write'),
      summary: 'Upload a signature pack',
      refuses: ['pack_upload_running', 'pack_changed', 'already_exists', 'limit_reached'],
      operation: 'uploadSignaturePack',
      description:
        'A JSON file `{name, version, signatures}` of at most 10 MiB (413). Another version of a known pack updates its signatures.',
      consumes: 'multipart',
      file: { part: 'file', mostBytes: MAX_BYTES },
      body: z.object({ file: z.string().meta({ format: 'binary' }) }),
      status: 201,
      response: z.object({
        packId: z.uuid(),
        name: z.string(),
        version: z.string(),
        imported: z.int(),
        updated: z.int(),
        skipped: z.int(),
      }),
      handle: async ({ file: fileOf, run, principal: { tenantId }, services }) => {
        // Enter the limiter after the upload, so that a slow upload holds no place.
        const file = await fileOf();
        return services.limits.packs.run(tenantId, () => takePack({ run, services }, tenantId, file));
      },
    }),
    route({
      method: 'GET',
      path: `${base}/packs`,
      access: admin('signatures:read'),
      summary: 'List uploaded signature packs',
      description: 'Returns all of them, newest first.',
      response: z.object({ packs: z.array(signaturePackView), total: z.int() }),
      handle: ({ ask }) => ask(listSignaturePacks, undefined),
    }),
  ],
};
