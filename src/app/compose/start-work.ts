import { HeadSealer } from '../../contexts/audit/head-sealer.ts';
import { isNeedlessPush } from '../../contexts/notifications/push/plan-pushes.ts';
import type { CompositionContext } from './composition-context.ts';
import { PersistentSchedules } from '../../platform/jobs/persistent-schedules.ts';
import type { AnyCommand } from '../../platform/kernel/command.ts';
import { isFailure } from '../../platform/kernel/failure.ts';
import { maintenanceSchedules } from './maintenance-jobs.ts';
import { ReactionRunner, sharedByReactions, type EffectPorts } from '../../platform/projector/reaction-runner.ts';
import { reactions } from '../../contexts/reactions.ts';
import type { ServiceContainer } from './service-container.ts';

/** True if processes of this role fold read models and run reactions. */
export const projects = ({ config, options }: CompositionContext): boolean =>
  !options.onlyLooks && (options.project ?? (config.role === 'all' || config.role === 'projector'));

/** True if processes of this role run jobs. A command that leaves projections to the service leaves jobs to it as well. */
const runsJobs = (composition: CompositionContext): boolean => {
  const { config, options } = composition;
  return projects(composition) || (config.role === 'worker' && !options.onlyLooks && options.project !== false);
};

/** Starts the work of this process's role besides serving requests. */
export async function startWork(
  composition: CompositionContext,
  services: ServiceContainer,
  alone: boolean,
): Promise<void> {
  const { log, onStop } = composition;
  const { projector, jobs } = services;
  if (projects(composition)) {
    await projector.start();
    onStop(() => projector.stop());
    await startReactions(composition, services, alone);
    const sealer = new HeadSealer(services, services.sealAlarms);
    sealer.start();
    onStop(() => sealer.stop());
  }
  if (runsJobs(composition)) {
    await jobs.start();
    // An update whose command restarted the service is recorded at once.
    void services.updateRuns
      .settle()
      .catch((error: unknown) => log.warn({ reason: (error as Error).message }, 'updates could not be settled'));
    services.forwarder.start();
    onStop(() => services.forwarder.stop());
    const schedules = new PersistentSchedules(jobs, maintenanceSchedules, log);
    schedules.start();
    onStop(() => schedules.stop());
  }
}

async function startReactions(
  { log, onStop }: CompositionContext,
  { database, projector, subscription, trust, executor, jobs, deliverySender, notificationSettings }: ServiceContainer,
  alone: boolean,
): Promise<void> {
  const effects: EffectPorts = {
    async execute(command: AnyCommand, input, execution) {
      const outcome = await executor.execute(command, input, execution);
      if (!isFailure(outcome)) deliverySender.wake(execution.tenantId, outcome.events);
      return outcome;
    },
    enqueueWithin: (client, request, jobOptions) => jobs.enqueueWithin(client, request, jobOptions),
    isNeedless: async (request) =>
      deliverySender.wasWokenFor(request) || (await isNeedlessPush(request, notificationSettings)),
  };
  const pool = database.projector;
  const parts = { pool, checkpoints: projector.checkpoints, subscription, trust, effects, log, alone };
  const shared = sharedByReactions(parts);
  const runners = reactions.map((reaction) => new ReactionRunner(reaction, { ...parts, shared }));
  // If log and tables contradict each other, do not prepare: it would overwrite how far the tables had come.
  if (trust.doubt?.kind !== 'contradicted') await Promise.all(runners.map((runner) => runner.prepare()));
  onStop(() => Promise.all(runners.map((runner) => runner.stop())).then(() => undefined));
  for (const runner of runners) runner.start();
}
