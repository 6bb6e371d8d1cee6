import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { conflict, FailureError, unavailable } from '../../../src/platform/kernel/failure.ts';
import { deleteSecretsIfRefused } from '../../../src/platform/resources/secrets.ts';
import { TENANT } from '../../dsl/given.ts';
import { memoryVault } from './memory-vault.ts';

describe('a secret stored for a command', () => {
  const afterwards = async (error: Error): Promise<number> => {
    const vault = memoryVault();
    const reference = await vault.put(TENANT, { owner: 'admin/a', field: 'totpSecret' }, 'a secret');
    await expect(
      deleteSecretsIfRefused({ vault, log: pino({ level: 'silent' }) }, TENANT, [reference], error),
    ).rejects.toBe(error);
    return vault.kept.size;
  };

  it('is destroyed when the command is refused', async () => {
    expect(await afterwards(new FailureError(conflict()))).toBe(0);
  });

  it('stays when the append may have succeeded: an event may refer to it', async () => {
    expect(await afterwards(new FailureError(unavailable()))).toBe(1);
    expect(await afterwards(new Error('connection reset'))).toBe(1);
  });
});
