export const riskLevels = ['low', 'medium', 'high'] as const;
export type RiskLevel = (typeof riskLevels)[number];

/** As rows keep it, so that the riskiest is the greatest. */
export const rankOf = (level: RiskLevel): number => riskLevels.indexOf(level);
export const levelOf = (rank: number): RiskLevel => riskLevels[rank] ?? 'high';

/** What takes over the browser, reads what is typed or signed in with, or leaves the browser altogether. */
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

/** What concerns the extension itself, or a page only at the person's own click. */
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
/** `*`, `*.com`, `*.co.uk`-like: a wildcard over at most a short suffix is as good as everything. */
const WHOLE_WEB = /^(?:\*|\*\.[a-z]{2,}|\*\.(?:co|com|org|net|ac|gov)\.[a-z]{2})$/i;

/** One permission: every site is high, one site medium; what is not known is not called harmless. */
export function riskOfPermission(permission: string): RiskLevel {
  const name = permission.trim();
  if (name === '<all_urls>' || HIGH.has(name)) return 'high';
  if (LOW.has(name)) return 'low';
  const [, scheme, host] = HOST_PATTERN.exec(name) ?? [];
  if (scheme === undefined) return 'medium';
  return scheme.toLowerCase() === 'file' || WHOLE_WEB.test(host!) ? 'high' : 'medium';
}

/**
 * What an extension could do at worst: the risk of its riskiest permission, `low` for one that asks for nothing. So what
 * several installations may do together is the worst of what each may do: risk(A ∪ B) = max(risk(A), risk(B)).
 */
export const riskOf = (permissions: readonly string[]): RiskLevel =>
  levelOf(permissions.reduce((worst, one) => Math.max(worst, rankOf(riskOfPermission(one))), 0));
