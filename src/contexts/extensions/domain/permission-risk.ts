export const riskLevels = ['low', 'medium', 'high'] as const;
export type RiskLevel = (typeof riskLevels)[number];

/** Stored as a number, so that the highest risk is the greatest value. */
export const rankOf = (level: RiskLevel): number => riskLevels.indexOf(level);
export const levelOf = (rank: number): RiskLevel => riskLevels[rank] ?? 'high';

/** Permissions that control the browser, read input or sign-in data, or reach outside the browser. */
const HIGH: ReadonlySet<string> = new Set([
  'accessibilityFeatures.modify',
  'browsingData',
  'contentSettings',
  'cookies',
  'debugger',
  'declarativeNetRequestWithHostAccess',
  'desktopCapture',
  'dns',
  'enterprise.platformKeys',
  'management',
  'nativeMessaging',
  'pageCapture',
  'pkcs11',
  'platformKeys',
  'privacy',
  'proxy',
  'scripting',
  'tabCapture',
  'userScripts',
  'vpnProvider',
  'webRequest',
  'webRequestBlocking',
  'webRequestAuthProvider',
]);

/** Permissions that concern only the extension itself, or a page only after the user's click. */
const LOW: ReadonlySet<string> = new Set([
  'action',
  'activeTab',
  'alarms',
  'commands',
  'contextMenus',
  'dom.storage',
  'fontSettings',
  'gcm',
  'idle',
  'menus',
  'notifications',
  'offscreen',
  'power',
  'search',
  'sidePanel',
  'storage',
  'system.display',
  'theme',
  'tts',
  'ttsEngine',
  'unlimitedStorage',
  'wallpaper',
]);

/** A host pattern is `<scheme>://<host><path>` (match patterns of the WebExtensions standard). */
const HOST_PATTERN = /^(\*|[a-z][a-z0-9+.-]*):\/\/([^/]*)(\/|$)/i;
/** `*`, `*.com`, `*.co.uk` and similar: a wildcard over a public suffix counts as every site. */
const WHOLE_WEB = /^(?:\*|\*\.[a-z]{2,}|\*\.(?:co|com|org|net|ac|gov)\.[a-z]{2})$/i;

/** The risk of one permission. Every site is high, one site is medium. Unknown permissions are medium, not low. */
export function riskOfPermission(permission: string): RiskLevel {
  const name = permission.trim();
  if (name === '<all_urls>' || HIGH.has(name)) return 'high';
  if (LOW.has(name)) return 'low';
  const [, scheme, host] = HOST_PATTERN.exec(name) ?? [];
  if (scheme === undefined) return 'medium';
  return scheme.toLowerCase() === 'file' || WHOLE_WEB.test(host!) ? 'high' : 'medium';
}

/**
 * The worst case of an extension: the risk of its riskiest permission, or `low` without permissions. Therefore the risk
 * of several installations together is their maximum: risk(A ∪ B) = max(risk(A), risk(B)).
 */
export const riskOf = (permissions: readonly string[]): RiskLevel =>
  levelOf(permissions.reduce((worst, one) => Math.max(worst, rankOf(riskOfPermission(one))), 0));
