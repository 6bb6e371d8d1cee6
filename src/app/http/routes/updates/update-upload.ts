import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { stageUpdate } from '../../../../../commands/updates/stage-update.ts';
import type { BundleStore, StoredBytes } from '../../../../contexts/updates/bundle-store.ts';
import {
  bundleStatement,
  isSignedStatement,
  signatureOctets,
  updateKey,
} from '../../../../contexts/updates/domain/signed-statements.ts';
import { softwareVersion, versionInFileName } from '../../../../contexts/updates/domain/software-version.ts';
import type { StoredBundle } from '../../../../contexts/updates/domain/events.ts';
import type { UpdateSettings } from '../../../../contexts/updates/domain/update-settings.ts';
import {
  FailureError,
  invalid,
  reauthenticationRequired,
  temporarilyUnavailable,
  type FieldError,
} from '../../../../platform/kernel/failure.ts';
import { INSTALLATION } from '../../../../platform/kernel/ids.ts';
import { ObjectStoreUnavailable } from '../../../../platform/objects/object-store.ts';
import { MAX_BUNDLE_BYTES } from '../../../../contexts/updates/update-downloads.ts';
import type { Config } from '../../../config/config.ts';
import type { Limits } from '../../../config/limits.ts';
import { adminReauthenticatedWhere } from '../../access.ts';
import type { AdminPrincipal } from '../../principal.ts';
import { routeWith, type HandlerContext, type RouteGroup } from '../../route.ts';
import { refuseFields } from '../../wrong-fields.ts';
import { streamedForm, type StreamedForm } from '../../streamed-form.ts';
import { refuseOtherTenants } from './administering-tenant.ts';

export interface UpdateUploadDependencies {
  readonly config: Pick<Config, 'updates'>;
  readonly updateBundles: BundleStore;
  readonly limits: Pick<Limits, 'bundles'>;
}

type Call = Pick<
  HandlerContext<never, never, never, AdminPrincipal, UpdateUploadDependencies>,
  'ask' | 'run' | 'services' | 'principal' | 'request'
>;

const route = routeWith<UpdateUploadDependencies>();

const texts = z.object({
  version: z.string().optional().describe('Semantic version; by default the one in the name of the file'),
  signature: z.string().optional().describe('Ed25519, in base64, of the text with version and SHA-256'),
});

/** Throws 400 that names the fields, or asks for re-authentication. */
function checkedBundle(
  settings: UpdateSettings,
  { fields, fileName, taken }: StreamedForm<z.output<typeof texts>, StoredBytes>,
  isReauthenticated: boolean,
): StoredBundle {
  const version = fields.version === undefined ? versionInFileName(fileName) : softwareVersion(fields.version);
  const isSigned = fields.signature !== undefined && fields.signature !== '';
  refuseFields([
    ...(taken.bytes === 0 ? [{ field: 'file', message: 'is empty' }] : []),
    ...(version === undefined
      ? [{ field: 'version', message: 'must be a semantic version, here or in the name of the file' }]
      : []),
    ...(isSigned ? wrongSignature(settings, fields.signature!) : settings.allowsUnsigned ? [] : [UNSIGNED]),
  ]);
  if (isSigned) checkSignature(settings, bundleStatement(version!, taken.sha256), fields.signature!);
  // Only the operator's word and this session stand behind it.
  else if (!isReauthenticated) throw new FailureError(reauthenticationRequired());
  return { ...taken, version: version!, isSigned };
}

const UNSIGNED: FieldError = { field: 'signature', message: 'is required' };

/** What is wrong with a signature whatever it signs. */
function wrongSignature({ publicKey }: UpdateSettings, text: string): readonly FieldError[] {
  const field = 'signature';
  if (publicKey === undefined)
    return [{ field, message: 'cannot be checked: the operator has set no UPDATE_PUBLIC_KEY' }];
  return signatureOctets(text) ? [] : [{ field, message: 'must be an Ed25519 signature in base64' }];
}

function checkSignature({ publicKey }: UpdateSettings, statement: string, text: string): void {
  if (!isSignedStatement(updateKey(publicKey!), statement, signatureOctets(text)!))
    throw new FailureError(invalid('signature', 'does not belong to this version and file'));
}

/** An append whose outcome is unknown may have staged the bundle: then it stays, and the sweep decides later. */
const mayBeStaged = (error: unknown): boolean =>
  !(error instanceof FailureError) || error.failure.kind === 'unavailable';

async function receive(call: Call) {
  const { request, run, services, principal } = call;
  const { updateBundles, config } = services;
  const bundleId = randomUUID();
  let isKept = false;
  try {
    const form = await streamedForm(request, texts, {
      part: 'file',
      mostBytes: MAX_BUNDLE_BYTES,
      take: (stream) => updateBundles.put(bundleId, stream),
    });
    const bundle = checkedBundle(config.updates, form, principal.reauthenticated);
    const { runningVersion } = config.updates;
    const { result } = await run(stageUpdate, { bundle, runningVersion }, INSTALLATION).catch((error: unknown) => {
      isKept = mayBeStaged(error);
      throw error;
    });
    isKept = true;
    if (result.replaced) await updateBundles.delete(result.replaced).catch(() => undefined);
    return { version: bundle.version, state: 'staged' as const, sha256: bundle.sha256 };
  } catch (error) {
    if (error instanceof ObjectStoreUnavailable)
      throw new FailureError(temporarilyUnavailable('bundle_storage_unavailable'));
    throw error;
  } finally {
    // What cannot be deleted now is swept later.
    if (!isKept) await updateBundles.delete(bundleId).catch(() => undefined);
  }
}

/** OP-208. */
export const updateUploadRoutes: RouteGroup<UpdateUploadDependencies> = {
  area: 'updates',
  routes: [
    route({
      method: 'POST',
      path: '/api/v1/admin/updates/upload',
      isBulk: true,
      streamsFile: true,
      access: adminReauthenticatedWhere('updates:write', 'the bundle is not signed'),
      summary: 'Upload an update bundle',
      description:
        'At most 200 MiB (413), within 60 seconds. Stages the bundle after its signature was checked, in place of one that was not applied. `docs/guides/updates.md` says how to sign. Only the tenant that administers the installation may call this. A retry replaces the first upload: `Idempotency-Key` has no effect.',
      refuses: ['updates_of_the_operator', 'update_under_way', 'update_not_newer', 'bundle_storage_unavailable'],
      consumes: 'multipart',
      body: texts.extend({ file: z.string().meta({ format: 'binary' }) }),
      status: 201,
      response: z.object({ version: z.string(), state: z.literal('staged'), sha256: z.string() }),
      handle: async (call) => {
        const { services, principal } = call;
        await refuseOtherTenants(call, services.config.updates, principal.tenantId);
        return services.limits.bundles.run('installation', () => receive(call));
      },
    }),
  ],
};
