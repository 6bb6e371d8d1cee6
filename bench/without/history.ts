import { alerts } from '../../projections/alerts/alerts.ts';
import { rebuildInto } from '../../src/platform/projector/rebuild.ts';
import { openAlertHistory, openEvidence, verifying } from '../alert-history.ts';
import { perSecond } from '../measure.ts';
import { reads } from './requests.ts';
import type { Running } from './running.ts';

const EVENTS = 40_000;

export async function rebuilds(): Promise<Running> {
  const { parts, stop } = await openAlertHistory(EVENTS);
  return { round: () => perSecond(EVENTS, () => rebuildInto(parts, alerts, 'bench', {})), stop };
}

export async function verifications(inThreads: boolean): Promise<Running> {
  const history = await openAlertHistory(EVENTS);
  const evidence = await openEvidence(history);
  const verify = verifying(inThreads ? evidence : { ...evidence, verification: undefined }, EVENTS);
  return { round: () => perSecond(EVENTS, verify), stop: history.stop };
}

/** Reads of one alert over HTTP, while the audit chain of another tenant is verified in the same process. */
export async function readsBesideVerification(): Promise<Running> {
  const [verifying, reading] = [await verifications(true), await reads(8, 1_500)];
  return {
    round: async () => {
      let isOver = false;
      const beside = (async () => {
        while (!isOver) await verifying.round();
      })();
      const rate = await reading.round();
      isOver = true;
      await beside;
      return rate;
    },
    stop: async () => {
      await reading.stop();
      await verifying.stop();
    },
  };
}
