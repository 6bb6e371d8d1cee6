import { isDeepStrictEqual } from 'node:util';
import { refuseUnlessOwnerOfPrivate } from '../../src/contexts/admins/domain/private-destinations.ts';
import { refuseSecretElsewhere, type DirectoryConfig } from '../../src/contexts/directory-sources/domain/config.ts';
import {
  directorySecretLocation,
  directorySource,
  directorySourceStream,
} from '../../src/contexts/directory-sources/domain/directory-source.ts';
import type { DirectorySource } from '../../src/contexts/directory-sources/domain/events.ts';
import { accept, defineCommand, replacedSecret } from '../../src/platform/kernel/command.ts';
import { notFound, refuseTogether, type Failure } from '../../src/platform/kernel/failure.ts';
import type { WithAggregates, WithDestinations, WithVault } from '../ports.ts';
import { refuseUnreachableDirectory } from './reachable-directory.ts';

type Settings = Omit<DirectorySource, 'sourceId' | 'secretRef' | 'config'>;

interface UpdateDirectorySource {
  readonly sourceId: string;
  /** Omitted fields keep their values. */
  readonly changes: { readonly [Name in keyof Settings]?: Settings[Name] | undefined };
  readonly config: Readonly<Record<string, unknown>>;
  /** Undefined keeps the stored one; null removes it. */
  readonly credential: string | null | undefined;
  readonly isSuperAdmin?: boolean;
}

interface Facts {
  readonly secretRef: string | null | undefined;
}

export const updateDirectorySource = defineCommand({
  name: 'UpdateDirectorySource',
  aggregate: directorySource,
  stream: ({ sourceId }: UpdateDirectorySource, { tenantId }) => directorySourceStream(tenantId, sourceId),
  async prepare(
    input: UpdateDirectorySource,
    { vault, aggregates, destinations }: WithVault & WithAggregates & WithDestinations,
    { tenantId },
  ): Promise<Facts | Failure> {
    const { sourceId, credential } = input;
    const { source } = await aggregates.load(directorySource, directorySourceStream(tenantId, sourceId));
    if (!source) return notFound();
    const wanted = changed(source, input);
    // Only changes of the reach are checked: any other change must stay possible while a name leads elsewhere.
    const reaches =
      !isDeepStrictEqual(wanted.config, source.config) || wanted.allowPrivateNetwork !== source.allowPrivateNetwork;
    const refused = refuseTogether(
      source.secretRef !== null && credential === undefined
        ? refuseSecretElsewhere(source.config, wanted.config)
        : undefined,
      reaches ? await refuseUnreachableDirectory(destinations, wanted.config, wanted) : undefined,
    );
    if (refused) return refused;
    const location = directorySecretLocation(sourceId);
    return {
      secretRef: typeof credential === 'string' ? await vault.put(tenantId, location, credential) : credential,
    };
  },
  decide({ source }, input, _context, { secretRef }: Facts) {
    if (!source) return notFound();
    const updated = { ...changed(source, input), secretRef: secretRef === undefined ? source.secretRef : secretRef };
    const keepsSecret = source.secretRef !== null && updated.secretRef === source.secretRef;
    const refused = keepsSecret ? refuseSecretElsewhere(source.config, updated.config) : undefined;
    if (refused) return refused;
    const notAllowed = refuseUnlessOwnerOfPrivate(reachOf(source), reachOf(updated), input.isSuperAdmin);
    if (notAllowed) return notAllowed;
    if (isDeepStrictEqual(updated, source)) return accept([]);
    return accept([{ type: 'DirectorySourceUpdated', data: updated }], {
      forget: replacedSecret(source.secretRef, updated.secretRef),
    });
  },
  freshens: ['directory_sources'],
});

/** All of it: each type has addresses of its own, and ports and TLS decide as well. */
const reachOf = ({ allowPrivateNetwork, config }: DirectorySource) => ({ allowPrivateNetwork, address: config });

/** The type of a source never changes. Fields of another type are ignored. */
function changed(source: DirectorySource, { changes, config }: UpdateDirectorySource): DirectorySource {
  const given = (values: object, known: object) =>
    Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== undefined && name in known));
  const { type } = source.config;
  return {
    ...source,
    ...given(changes, source),
    config: { ...source.config, ...given(config, source.config), type } as DirectoryConfig,
  };
}
