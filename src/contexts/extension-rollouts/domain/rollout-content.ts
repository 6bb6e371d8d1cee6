import { z } from 'zod';
import { browserTypes } from '../../devices/domain/events.ts';
import { invalid, refuseTogether, type Failure } from '../../../platform/kernel/failure.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { ruleBetween } from '../../../platform/kernel/rule-between.ts';
import type { RolloutContent } from './events.ts';

const MAX_STAGES = 10;
const MAX_GROUPS = 50;
/** Thirty days. */
const MAX_SOAK_HOURS = 720;

/** As manifests of extensions and our own releases write versions. Never the start of a longer text. */
const version = z
  .string()
  .regex(/^\d[0-9A-Za-z.+-]{0,63}$/, 'must begin with a digit and have letters, digits and .+- only');

const stage = z.object({
  groupIds: z
    .array(uuid())
    .max(MAX_GROUPS)
    .transform((ids) => [...new Set(ids)])
    .default([])
    .describe('Devices of members of these groups'),
  percent: z
    .number()
    .min(0)
    .max(100)
    .refine((percent) => Number(percent.toFixed(2)) === percent, 'must have at most two decimals')
    .default(0)
    .describe('Share of all devices of the rollout, in percent and at most two decimals'),
  soakHours: z
    .number()
    .min(0.1)
    .max(MAX_SOAK_HOURS)
    .nullable()
    .default(null)
    .describe('The next stage begins by itself after so many hours; null: by hand'),
});

const halt = z.object({
  factor: z
    .number()
    .min(1)
    .max(1_000)
    .default(2)
    .describe('Halts if errors an hour and device exceed those of other versions times this'),
  minErrors: z.int().min(1).max(1_000_000).default(10).describe('Never halts with fewer errors'),
  minDevices: z.int().min(2).max(1_000_000).default(3).describe('Never halts with fewer devices that report errors'),
});

interface StageProblem {
  readonly path: (string | number)[];
  readonly message: string;
}

/** A later stage adds devices, it never takes any away. */
const stageProblems = (stages: readonly Pick<z.output<typeof stage>, 'groupIds' | 'percent'>[]): StageProblem[] =>
  stages.flatMap(({ groupIds, percent }, at) => {
    const least = stages[at - 1]?.percent ?? 0;
    if (percent < least) return { path: [at, 'percent'], message: `must be at least ${least}, as in the stage before` };
    const hasNews = percent > least || groupIds.length > 0;
    return hasNews ? [] : { path: [at], message: 'must have groups or a greater share than the stage before' };
  });

const ELSEWHERE = 'must be another version';
const isElsewhere = ({ version: target, rollbackVersion }: Pick<RolloutContent, 'version' | 'rollbackVersion'>) =>
  rollbackVersion !== target;
const NO_RETURN = 'is required with returnsOnHalt';
const hasReturn = ({ returnsOnHalt, rollbackVersion }: Pick<RolloutContent, 'returnsOnHalt' | 'rollbackVersion'>) =>
  !returnsOnHalt || rollbackVersion !== null;

const fields = {
  version: version.describe('The version that devices shall run'),
  browserType: z.enum(browserTypes).nullable().describe('Null: all browsers'),
  rollbackVersion: version.nullable().describe('Where devices return to after a rollback; null: they keep the version'),
  returnsOnHalt: z.boolean().describe('Whether they return as soon as the rollout halts'),
  stages: z
    .array(stage)
    .min(1)
    .max(MAX_STAGES)
    .superRefine((stages, { addIssue }) => {
      for (const problem of stageProblems(stages)) addIssue({ code: 'custom', ...problem });
    }),
  halt,
};

export const newRollout = z
  .object({
    ...fields,
    browserType: fields.browserType.default(null),
    rollbackVersion: fields.rollbackVersion.default(null),
    returnsOnHalt: fields.returnsOnHalt.default(false),
    halt: halt.default({ factor: 2, minErrors: 10, minDevices: 3 }),
  })
  .check(ruleBetween(['rollbackVersion', 'version'], (content) => (isElsewhere(content) ? undefined : ELSEWHERE)))
  .check(ruleBetween(['rollbackVersion', 'returnsOnHalt'], (content) => (hasReturn(content) ? undefined : NO_RETURN)));
export const rolloutChanges = z.object(fields).partial();
export type RolloutChanges = z.output<typeof rolloutChanges>;

/** Rules that hold between fields: of a body, and of what a change makes of the stored content. */
export function contradiction(content: RolloutContent): Failure | undefined {
  return refuseTogether(
    isElsewhere(content) ? undefined : invalid('rollbackVersion', ELSEWHERE),
    hasReturn(content) ? undefined : invalid('rollbackVersion', NO_RETURN),
    ...stageProblems(content.stages).map(({ path, message }) => invalid(['stages', ...path].join('.'), message)),
  );
}
