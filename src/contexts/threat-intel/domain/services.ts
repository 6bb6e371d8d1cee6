/** The two services that rate domains (interface, "Threat-intelligence settings"). */
export const scanServices = ['scanner', 'reputation'] as const;
export type ScanService = (typeof scanServices)[number];

export interface CallBudgetLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** Limits of their free tiers (interface, "Limits"). */
export const callBudgets: Readonly<Record<ScanService, CallBudgetLimits>> = {
  scanner: { perMinute: 60, perDay: 1_000 },
  reputation: { perMinute: 4, perDay: 500 },
};
