import { describe, it } from 'vitest';
import { advanceExtensionRollout } from '../../../commands/extension-rollouts/advance-extension-rollout.ts';
import { changeExtensionRollout } from '../../../commands/extension-rollouts/change-extension-rollout.ts';
import { deleteExtensionRollout } from '../../../commands/extension-rollouts/delete-extension-rollout.ts';
import { draftExtensionRollout } from '../../../commands/extension-rollouts/draft-extension-rollout.ts';
import { judgeExtensionRollout } from '../../../commands/extension-rollouts/judge-extension-rollout.ts';
import { pauseExtensionRollout } from '../../../commands/extension-rollouts/pause-extension-rollout.ts';
import { resumeExtensionRollout } from '../../../commands/extension-rollouts/resume-extension-rollout.ts';
import { rollBackExtensionRollout } from '../../../commands/extension-rollouts/roll-back-extension-rollout.ts';
import { startExtensionRollout } from '../../../commands/extension-rollouts/start-extension-rollout.ts';
import { NO_FIGURES } from '../../../src/contexts/extension-rollouts/domain/error-rates.ts';
import { context, given, NOW } from '../../dsl/given.ts';

const rolloutId = context().id;
const HOUR = 3_600_000;
const ago = (ms: number) => new Date(NOW - ms).toISOString();
const stage = (percent: number, soakHours: number | null = null) => ({ groupIds: [], percent, soakHours });
const content = {
  version: '2.1.0',
  browserType: 'chrome' as const,
  rollbackVersion: '2.0.0',
  returnsOnHalt: true,
  stages: [stage(5, 24), stage(50)],
  halt: { factor: 2, minErrors: 10, minDevices: 3 },
};
const drafted = {
  type: 'ExtensionRolloutDrafted' as const,
  data: { rolloutId, slot: 1, salt: '00', content },
};
const started = (agoMs = 0) => ({
  type: 'ExtensionRolloutStarted' as const,
  data: { rolloutId, decidedAt: ago(agoMs), round: 1 },
});
const paused = { type: 'ExtensionRolloutPaused' as const, data: { rolloutId, decidedAt: ago(0), stage: 0 } };
const advanced = (agoMs = 0) => ({
  type: 'ExtensionRolloutAdvanced' as const,
  data: { rolloutId, decidedAt: ago(agoMs), stage: 1, figures: null },
});
const bad = {
  candidate: { devices: 4, affectedDevices: 3, deviceHours: 8, errors: 12 },
  baseline: { devices: 50, affectedDevices: 2, deviceHours: 100, errors: 3 },
};
const good = { candidate: { ...NO_FIGURES, devices: 4, deviceHours: 8 }, baseline: NO_FIGURES };
const judged = (figures: typeof bad, over = {}) => ({ rolloutId, round: 1, stage: 0, figures, ...over });
const halted = {
  type: 'ExtensionRolloutHalted' as const,
  data: {
    rolloutId,
    decidedAt: ago(0),
    version: '2.1.0',
    stage: 0,
    round: 1,
    rule: content.halt,
    figures: bad,
    returnsTo: '2.0.0',
  },
};
const rolledBack = {
  type: 'ExtensionRolloutRolledBack' as const,
  data: { rolloutId, decidedAt: ago(0), stage: 0, returnsTo: '2.0.0' },
};
const completed = {
  type: 'ExtensionRolloutCompleted' as const,
  data: { rolloutId, decidedAt: ago(0), stage: 1, figures: null },
};
const ref = { rolloutId };

describe('a draft', () => {
  it('is recorded once', () => {
    const draft = { content, salt: '00' };
    given().when(draftExtensionRollout, draft, { slot: 1 }).then(drafted);
    given(drafted).when(draftExtensionRollout, draft, { slot: 2 }).thenNothing();
  });
  it('changes, field by field', () =>
    given(drafted)
      .when(changeExtensionRollout, { rolloutId, changes: { version: '2.2.0' } }, { refused: undefined })
      .then({ type: 'ExtensionRolloutChanged', data: { rolloutId, content: { ...content, version: '2.2.0' } } }));
  it('does not change to what contradicts itself', () =>
    given(drafted)
      .when(changeExtensionRollout, { rolloutId, changes: { version: '2.0.0' } }, { refused: undefined })
      .thenRefused('invalid'));
  it('is deleted; a started rollout neither changes nor is deleted', () => {
    given(drafted).when(deleteExtensionRollout, ref).then({ type: 'ExtensionRolloutDeleted', data: { rolloutId } });
    given(drafted, started()).when(deleteExtensionRollout, ref).thenRefused('conflict');
    given(drafted, started())
      .when(changeExtensionRollout, { rolloutId, changes: { version: '3' } }, { refused: undefined })
      .thenRefused('conflict');
  });
  it('starts, once', () => {
    given(drafted).when(startExtensionRollout, ref).then(started());
    given(drafted, started()).when(startExtensionRollout, ref).thenRefused('conflict');
    given().when(startExtensionRollout, ref).thenRefused('notFound');
  });
});

describe('an active rollout', () => {
  it('advances by hand, and is complete after the last stage', () => {
    given(drafted, started()).when(advanceExtensionRollout, ref).then(advanced());
    given(drafted, started(), advanced()).when(advanceExtensionRollout, ref).then(completed);
    given(drafted, started(), advanced(), completed).when(advanceExtensionRollout, ref).thenRefused('conflict');
  });
  it('pauses, and resumes in the same stage and another round', () => {
    given(drafted, started()).when(pauseExtensionRollout, ref).then(paused);
    given(drafted, started(), paused)
      .when(resumeExtensionRollout, ref)
      .then({ type: 'ExtensionRolloutResumed', data: { rolloutId, decidedAt: ago(0), stage: 0, round: 2 } });
    given(drafted, started()).when(resumeExtensionRollout, ref).thenRefused('conflict');
    given(drafted, started(), paused).when(advanceExtensionRollout, ref).thenRefused('conflict');
  });
  it('is rolled back in each state but a draft and after its end', () => {
    for (const history of [[started()], [started(), paused], [started(), halted]])
      given(drafted, ...history)
        .when(rollBackExtensionRollout, ref)
        .then(rolledBack);
    given(drafted, started(), advanced(), completed)
      .when(rollBackExtensionRollout, ref)
      .thenTypes('ExtensionRolloutRolledBack');
    given(drafted).when(rollBackExtensionRollout, ref).thenRefused('conflict');
    given(drafted, started(), rolledBack).when(rollBackExtensionRollout, ref).thenRefused('conflict');
  });
});

describe('judging a rollout', () => {
  it('halts it, once', () => {
    given(drafted, started()).when(judgeExtensionRollout, judged(bad)).then(halted);
    given(drafted, started(), halted).when(judgeExtensionRollout, judged(bad)).thenNothing();
  });
  it('decides nothing by figures of another round or stage, and nothing about a paused one', () => {
    given(drafted, started())
      .when(judgeExtensionRollout, judged(bad, { round: 2 }))
      .thenNothing();
    given(drafted, started(), advanced()).when(judgeExtensionRollout, judged(bad)).thenNothing();
    given(drafted, started(), paused).when(judgeExtensionRollout, judged(bad)).thenNothing();
  });
  it('begins the next stage after the soak time, with what it was decided by', () => {
    given(drafted, started(23 * HOUR))
      .when(judgeExtensionRollout, judged(good))
      .thenNothing();
    given(drafted, started(24 * HOUR))
      .when(judgeExtensionRollout, judged(good))
      .then({
        type: 'ExtensionRolloutAdvanced',
        data: { rolloutId, decidedAt: ago(0), stage: 1, figures: good },
      });
  });
  it('halts also after the soak time', () =>
    given(drafted, started(24 * HOUR))
      .when(judgeExtensionRollout, judged(bad))
      .thenTypes('ExtensionRolloutHalted'));
  it('waits as long as no device has reported with the version, and where a stage ends by hand', () => {
    const silent = { candidate: NO_FIGURES, baseline: NO_FIGURES };
    given(drafted, started(48 * HOUR))
      .when(judgeExtensionRollout, judged(silent))
      .thenNothing();
    given(drafted, started(), advanced(48 * HOUR))
      .when(judgeExtensionRollout, judged(good, { stage: 1 }))
      .thenNothing();
  });
});
