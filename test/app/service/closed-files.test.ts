import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { hasSetpriv } from '../../../src/platform/embedded/launcher.ts';
import { serverCertificate } from '../../../src/contexts/certificates/server-certificate.ts';
import { issueServerCertificate } from '../../../src/platform/pki/server-certificate.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import { PrivateAuthority } from '../../fixtures/eventstoredb/certificates.ts';
import { imitateCluster } from '../../dsl/imitated-cluster.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const SOMEBODY = 65_534;
/** Root without the rights over files of others: the checkout stays readable, wherever it is. */
const WITHOUT_RIGHTS = ['setpriv', '--bounding-set', '-all', '--inh-caps', '-all', '--'];

describe.runIf(process.getuid?.() === 0 && hasSetpriv())(
  'files that this user may not read, as after a restore',
  () => {
    const dataDir = scratchFolder('closed-files');
    const keys = join(dataDir, 'keys');
    const give = (name: string) => chownSync(join(dataDir, name), SOMEBODY, SOMEBODY);
    beforeEach(() => {
      rmSync(dataDir, { recursive: true, force: true });
      mkdirSync(dataDir);
      readConfig({ DATA_DIR: dataDir });
      imitateCluster(join(dataDir, 'postgres/cluster'));
    });
    afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

    /** Exit code and lines, without those of `doctor` that are in order. */
    const run = (...words: string[]): [number | null, string[]] => {
      const [program, ...args] = [...WITHOUT_RIGHTS, process.execPath, 'scripts/run.mjs', ...words];
      const { status, stdout, stderr } = spawnSync(program!, args, {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], DATA_DIR: dataDir, PORT: '0', TLS_PORT: '0' },
        timeout: 60_000,
      });
      return [status, `${stdout}${stderr}`.split('\n').filter((line) => !/^(?:ok|--|$)/.test(line))];
    };
    const hidden = (path: string) =>
      `${path} cannot be looked at (EACCES): use the user of the service, or give this one the right`;

    it.each([
      ['master-key', ['tenant', 'list']],
      ['audit-hmac-key', ['audit', 'verify']],
      [
        'license-signing.pem',
        ['license', 'issue', '--client', 'A', '--tier', 'trial', '--max-users', '5', '--days', '5'],
      ],
    ])('are named in one sentence by start, command and doctor: %s', (name, command) => {
      give(`keys/${name}`);
      const sentence = hidden(join(keys, name));
      expect(run('src/main.ts')).toEqual([2, [`castellan: ${sentence}`]]);
      expect(run('src/cli.ts', ...command)).toEqual([3, [`castellan: ${sentence}`]]);
      expect(run('src/cli.ts', 'doctor')).toEqual([3, [`??  keys: ${sentence}`]]);
    });

    it('are not named where only their folder is seen', () => {
      chmodSync(keys, 0o700);
      give('keys');
      expect(run('src/main.ts')).toEqual([2, [`castellan: ${hidden(keys)}`]]);
      expect(run('src/cli.ts', 'doctor')).toEqual([3, [`??  keys: ${hidden(keys)}`]]);
    });

    it('are sealed heads that doctor and commands do not take for none', () => {
      const file = join(dataDir, 'audit-heads.jsonl');
      writeFileSync(file, '', { mode: 0o600 });
      give('audit-heads.jsonl');
      expect(run('src/cli.ts', 'doctor')).toEqual([3, [`??  sealed heads: ${hidden(file)}`]]);
    });

    it.each(['', '.next', '.dropped'])('are sealed heads that can only be read: audit-heads.jsonl%s', (suffix) => {
      const file = join(dataDir, `audit-heads.jsonl${suffix}`);
      writeFileSync(file, '', { mode: 0o644 });
      if (suffix === '') expect(run('src/cli.ts', 'doctor')).toEqual([0, []]);
      give(`audit-heads.jsonl${suffix}`);
      const sentence = `${file} cannot be written by this user, so that heads are not sealed: give it to the user of the service (chown)`;
      expect(run('src/cli.ts', 'doctor')).toEqual([1, [`!!  sealed heads: ${sentence}`]]);
      if (suffix !== '') return;
      // Another user than that of the service, to whom the data directory belongs: this is no finding of the heads.
      chmodSync(dataDir, 0o755);
      give('.');
      expect(run('src/cli.ts', 'doctor')[1].filter((line) => line.includes('sealed heads'))).toEqual([]);
    });

    it.each(['postgres', 'postgres/owner.lock', 'postgres/socket'])(
      'are those of the embedded database: %s',
      (name) => {
        const path = join(dataDir, name);
        if (name.endsWith('socket')) mkdirSync(path, { mode: 0o755 });
        if (name.endsWith('lock')) writeFileSync(path, '', { mode: 0o644 });
        give(name);
        const sentence = `the embedded PostgreSQL cannot use ${path}, which this user may not change: use the user of the service, or give it ${join(dataDir, 'postgres')} (chown -R)`;
        expect(run('src/cli.ts', 'doctor')).toEqual([1, [`!!  postgresql: ${sentence}`]]);
        expect(run('src/main.ts')).toEqual([2, [`castellan: ${sentence}`]]);
        if (name === 'postgres') expect(run('src/cli.ts', 'tenant', 'list')[0]).toBe(3);
      },
    );

    it('are a cluster of root, as which PostgreSQL does not run', () => {
      const cluster = join(dataDir, 'postgres/cluster');
      chownSync(cluster, 0, 0);
      const sentence = expect.stringMatching(
        /cluster, which belongs to root, and PostgreSQL may not run as root: give it/,
      );
      expect(run('src/cli.ts', 'doctor')).toEqual([1, [sentence]]);
      expect(run('src/main.ts')).toEqual([2, [sentence]]);
    });

    it('are the key of TLS, which doctor does not overlook', async () => {
      await serverCertificate({ config: { dataDir } });
      give('tls/server.key');
      const sentence = hidden(join(dataDir, 'tls/server.key'));
      expect(run('src/cli.ts', 'doctor')).toEqual([3, [`??  tls certificate: ${sentence}`]]);
    });

    it('are a folder of TLS in which no pair could be created', () => {
      const folder = join(dataDir, 'tls');
      mkdirSync(folder, { mode: 0o755 });
      give('tls');
      const sentence = `${folder} is a folder in which this user may not write: use the user of the service, or give it to this one (chown -R)`;
      expect(run('src/cli.ts', 'doctor')).toEqual([1, [`!!  tls certificate: ${sentence}`]]);
    });

    it('are a folder of TLS that holds a pair, and nothing need be written', () => {
      const { certificatePem, privateKeyPem } = new PrivateAuthority().issue('castellan.example', {}, { days: 90 });
      mkdirSync(join(dataDir, 'tls'), { mode: 0o755 });
      writeFileSync(join(dataDir, 'tls/server.crt'), certificatePem);
      writeFileSync(join(dataDir, 'tls/server.key'), privateKeyPem);
      give('tls');
      expect(run('src/cli.ts', 'doctor')).toEqual([0, []]);
    });

    it('are a pair of ours that is to be renewed', async () => {
      await serverCertificate({ config: { dataDir } });
      const almostOver = issueServerCertificate({
        hostNames: ['localhost'],
        ipAddresses: ['127.0.0.1', '::1'],
        now: Date.now() - 350 * 86_400_000,
        days: 365,
      });
      writeFileSync(join(dataDir, 'tls/server.crt'), almostOver.certificatePem);
      writeFileSync(join(dataDir, 'tls/server.key'), almostOver.privateKeyPem);
      chmodSync(join(dataDir, 'tls/server.crt'), 0o644);
      give('tls/server.crt');
      expect(run('src/cli.ts', 'doctor')).toEqual([
        1,
        [
          expect.stringContaining(
            `${join(dataDir, 'tls/server.crt')} is to be renewed, and this user may not write it`,
          ),
        ],
      ]);
    });

    it('are closed to others by a start, also one that is refused later, and not by doctor', () => {
      const modes = () => readdirSync(keys).map((name) => statSync(join(keys, name)).mode & 0o777);
      for (const name of readdirSync(keys)) chmodSync(join(keys, name), 0o644);
      expect(run('src/cli.ts', 'doctor')[0]).toBe(0);
      expect(new Set(modes())).toEqual(new Set([0o644]));
      writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '9\n');
      expect(run('src/main.ts')[0]).not.toBe(0);
      expect(new Set(modes())).toEqual(new Set([0o600]));
    });
  },
);
