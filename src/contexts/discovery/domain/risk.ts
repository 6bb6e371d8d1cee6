import type { Classification, MfaOverride } from './vocabulary.ts';

/** Facts about a site (a registrable domain) that determine its risk. */
export interface SiteFacts {
  readonly credentialAttempts: number;
  readonly breachedAttempts: number;
  readonly mfaSignIns: number;
  readonly warnings: number;
  readonly blocks: number;
  /** Number of signals of phishing, of a malicious domain, and of ClickFix. */
  readonly dangers: number;
  /** Decisions and scans of its hosts, where there are any. */
  readonly marks: readonly {
    readonly classification: Classification | null;
    readonly mfaOverride: MfaOverride | null;
    readonly isScannedMalicious: boolean;
  }[];
}

export interface RiskFactor {
  readonly factor:
    | 'malicious'
    | 'dangerSignals'
    | 'breachedPasswords'
    | 'passwordsWithoutMfa'
    | 'blocks'
    | 'warnings'
    | 'unapproved'
    | 'personal'
    | 'unclassified';
  readonly points: number;
}

/**
 * The parts of a risk score. The score is their sum, at most 100:
 *  - 100 malicious: one of the site's hosts is classified as malicious, or a threat-intelligence service calls it so and
 *    nobody approved it;
 *  - 40 dangerSignals: browsers saw signs of phishing, a malicious domain or ClickFix;
 *  - 25 breachedPasswords: a password known from a breach was entered;
 *  - 20 passwordsWithoutMfa: passwords are entered, and no second factor was seen or an analyst says there is none;
 *  - 15 blocks, 10 warnings: the extension blocked or warned;
 *  - the worst classification of its hosts: 20 unapproved, 10 personal, 5 unclassified although passwords are entered.
 */
export function riskFactors(facts: SiteFacts): RiskFactor[] {
  const { credentialAttempts, breachedAttempts, mfaSignIns, warnings, blocks, dangers, marks } = facts;
  const classified = (as: Classification) => marks.some(({ classification }) => classification === as);
  const noMfa =
    marks.some(({ mfaOverride }) => mfaOverride === 'disabled') ||
    (mfaSignIns === 0 && marks.every(({ mfaOverride }) => mfaOverride === null));
  const unclassified = marks.every(({ classification }) => classification === null || classification === 'unknown');
  const factors: (RiskFactor | false)[] = [
    (classified('malicious') || marks.some(isScannedMalicious)) && { factor: 'malicious', points: 100 },
    dangers > 0 && { factor: 'dangerSignals', points: 40 },
    breachedAttempts > 0 && { factor: 'breachedPasswords', points: 25 },
    credentialAttempts > 0 && noMfa && { factor: 'passwordsWithoutMfa', points: 20 },
    blocks > 0 && { factor: 'blocks', points: 15 },
    warnings > 0 && { factor: 'warnings', points: 10 },
    classified('unapproved')
      ? { factor: 'unapproved', points: 20 }
      : classified('personal') && { factor: 'personal', points: 10 },
    credentialAttempts > 0 && unclassified && { factor: 'unclassified', points: 5 },
  ];
  return factors.filter((factor) => factor !== false);
}

const isScannedMalicious = (mark: SiteFacts['marks'][number]): boolean =>
  mark.isScannedMalicious && mark.classification !== 'corporate' && mark.classification !== 'approved';

export const riskScore = (factors: readonly RiskFactor[]): number =>
  Math.min(
    100,
    factors.reduce((sum, { points }) => sum + points, 0),
  );
