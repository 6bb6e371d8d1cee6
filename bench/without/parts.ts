/**
 * The optimizations that `npm run bench -- without <part>` can remove. A part is removed from the measured bundle,
 * never by a switch in the code: modules are replaced by plain ones (`plain/`), or a few words of a source are
 * replaced.
 */
export interface Part {
  /** Where the part matters: names of `workloads`. */
  readonly workloads: readonly Workload[];
  /** Each text occurs exactly once in its file (`test/scripts/without.test.ts`). Paths from the repository's root. */
  readonly edits?: readonly { readonly file: string; readonly text: string; readonly instead: string }[];
  /** Modules and their plain replacements, which may import the module that they replace. */
  readonly modules?: Readonly<Record<string, string>>;
}

export type Workload =
  | 'append-alone'
  | 'append-32'
  | 'append-256'
  | 'resolve-alone'
  | 'resolve-32'
  | 'read-32'
  | 'create-alone'
  | 'create-8'
  | 'rebuild-alerts'
  | 'verify-here'
  | 'verify-threads'
  | 'read-beside-verify'
  | 'login-32'
  | 'login-unhashed'
  | 'busy-device';

export const parts: Readonly<Record<string, Part>> = {
  'lean-client': {
    workloads: ['append-alone', 'resolve-32', 'read-32'],
    edits: [
      {
        file: 'src/platform/database/prepared-statement-client.ts',
        text: 'if (!isNamed(asked) || values !== undefined)',
        instead: 'if (asked)',
      },
    ],
  },
  'binary-arrays': {
    workloads: ['append-32', 'append-256'],
    modules: { 'src/platform/database/binary-arrays.ts': 'bench/without/plain/text-arrays.ts' },
  },
  'row-once': {
    workloads: ['resolve-alone', 'resolve-32'],
    edits: [
      { file: 'src/platform/projector/working-set.ts', text: '!step.once && !step.begins', instead: '!step.begins' },
      { file: 'src/platform/projector/working-set.ts', text: 'if (step.once) this.#once.push(name);', instead: '' },
    ],
  },
  'row-begins': {
    workloads: ['login-unhashed', 'create-alone', 'create-8'],
    edits: [
      { file: 'src/platform/projector/working-set.ts', text: '!step.once && !step.begins', instead: '!step.once' },
    ],
  },
  'command-begins': {
    workloads: ['login-unhashed'],
    edits: [{ file: 'src/platform/execution/attempts.ts', text: 'command.begins\n', instead: 'Date.now() === 0\n' }],
  },
  'command-tail': {
    workloads: ['login-unhashed'],
    edits: [
      { file: 'src/platform/execution/attempts.ts', text: 'return tail === undefined', instead: 'return tail !== -1' },
    ],
  },
  'remembered-decisions': {
    workloads: ['resolve-alone', 'resolve-32'],
    edits: [
      {
        file: 'src/platform/execution/attempts.ts',
        text: 'this.#loader.cached(command.aggregate, stream)',
        instead: 'undefined',
      },
    ],
  },
  'hashing-company': {
    workloads: ['login-32'],
    edits: [{ file: 'src/contexts/identity/hashing-limiter.ts', text: 'await this.#awaitBatch(source);', instead: '' }],
  },
  'pages-at-hand': {
    workloads: ['resolve-alone', 'resolve-32'],
    edits: [
      {
        file: 'src/platform/projector/lane-runner.ts',
        text: '!this.#narrow && (await this.#atHand.write(concerned, to))',
        instead: 'false',
      },
    ],
  },
  'packed-rows': {
    workloads: ['rebuild-alerts', 'verify-here'],
    modules: { 'src/platform/eventstore/postgres/packed-rows.ts': 'bench/without/plain/column-rows.ts' },
  },
  'seen-ids': {
    workloads: ['busy-device'],
    modules: { 'src/contexts/telemetry/domain/seen-ids.ts': 'bench/without/plain/seen-set.ts' },
  },
  'chain-key': {
    workloads: ['verify-here'],
    modules: { 'src/contexts/audit/domain/chain-key.ts': 'bench/without/plain/hmac-key.ts' },
  },
  'canonical-memo': {
    workloads: ['verify-here'],
    edits: [
      {
        file: 'src/platform/kernel/canonical-json.ts',
        text: 'if (known?.names.every',
        instead: 'if (names.length < 0 && known?.names.every',
      },
    ],
  },
  'verification-threads': {
    workloads: ['verify-threads', 'read-beside-verify'],
    edits: [
      {
        file: 'src/contexts/audit/segment-verification-threads.ts',
        text: 'if (isTaken) return undefined;',
        instead: 'return undefined;',
      },
    ],
  },
};
