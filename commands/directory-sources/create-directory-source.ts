import {
  directorySecretLocation,
  directorySource,
  directorySourceStream,
} from '../../src/contexts/directory-sources/domain/directory-source.ts';
import type { DirectorySource } from '../../src/contexts/directory-sources/domain/events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, type Failure } from '../../src/platform/kernel/failure.ts';
import type { WithDestinations, WithVault } from '../ports.ts';
import { refuseUnreachableDirectory } from './reachable-directory.ts';

interface CreateDirectorySource {
  readonly source: Omit<DirectorySource, 'secretRef'>;
  readonly credential: string | null;
}

interface Facts {
  readonly secretRef: string | null;
}

export const createDirectorySource = defineCommand({
  name: 'CreateDirectorySource',
  aggregate: directorySource,
  stream: ({ source }: CreateDirectorySource, { tenantId }) => directorySourceStream(tenantId, source.sourceId),
  async prepare(
    { source, credential }: CreateDirectorySource,
    { vault, destinations }: WithVault & WithDestinations,
    { tenantId },
  ): Promise<Facts | Failure> {
    const unreachable = await refuseUnreachableDirectory(destinations, source.config, source);
    if (unreachable) return unreachable;
    const location = directorySecretLocation(source.sourceId);
    return { secretRef: credential === null ? null : await vault.put(tenantId, location, credential) };
  },
  decide(state, { source }, _context, { secretRef }: Facts) {
    if (state.source || state.isDeleted) return conflict();
    return accept([{ type: 'DirectorySourceCreated', data: { ...source, secretRef } }]);
  },
  freshens: ['directory_sources'],
});
