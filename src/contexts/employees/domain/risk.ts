/** Facts about an employee that determine their risk. */
export interface EmployeeFacts {
  /** Alerts that are neither resolved nor false positives, by their current severity. */
  readonly openAlerts: Readonly<Record<'critical' | 'high' | 'medium' | 'low', number>>;
  /** Accounts whose last entered password is known from a breach, or used on other sites too. */
  readonly breachedCredentials: number;
  readonly reusedCredentials: number;
}

export const employeeRiskNames = [
  'openCriticalAlerts',
  'openHighAlerts',
  'openOtherAlerts',
  'breachedPasswords',
  'reusedPasswords',
] as const;

export interface EmployeeRiskFactor {
  readonly factor: (typeof employeeRiskNames)[number];
  readonly points: number;
}

/**
 * The parts of a risk score. The score is their sum, at most 100:
 *  - 40 openCriticalAlerts, 25 openHighAlerts, 10 openOtherAlerts: at least one such alert is not closed;
 *  - 30 breachedPasswords: a password in use is known from a breach;
 *  - 15 reusedPasswords: a password in use is used on several sites.
 */
export function employeeRiskFactors({
  openAlerts,
  breachedCredentials,
  reusedCredentials,
}: EmployeeFacts): EmployeeRiskFactor[] {
  const factors: (EmployeeRiskFactor | false)[] = [
    openAlerts.critical > 0 && { factor: 'openCriticalAlerts', points: 40 },
    openAlerts.high > 0 && { factor: 'openHighAlerts', points: 25 },
    openAlerts.medium + openAlerts.low > 0 && { factor: 'openOtherAlerts', points: 10 },
    breachedCredentials > 0 && { factor: 'breachedPasswords', points: 30 },
    reusedCredentials > 0 && { factor: 'reusedPasswords', points: 15 },
  ];
  return factors.filter((factor) => factor !== false);
}

export const employeeRiskScore = (factors: readonly EmployeeRiskFactor[]): number =>
  Math.min(
    100,
    factors.reduce((sum, { points }) => sum + points, 0),
  );
