export interface AuditedKey {
  readonly scopes: readonly string[] | null;
  readonly addresses: readonly string[] | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}

export interface KeyAuditLimits {
  /** A key that was not used for this long counts as unused. */
  readonly unusedMs: number;
  /** A key of this age is due for rotation. */
  readonly oldMs: number;
  /** A key that expires within this time must be rotated now. */
  readonly endingMs: number;
}

export type KeyFinding = 'never_used' | 'unused' | 'old' | 'no_expiry' | 'ends_soon' | 'every_scope' | 'any_address';

/** The findings about an API key. A new key counts as unused only after `unusedMs`. */
export function auditKey(key: AuditedKey, now: Date, limits: KeyAuditLimits): KeyFinding[] {
  const ageMs = now.getTime() - key.createdAt.getTime();
  const idleMs = now.getTime() - (key.lastUsedAt ?? key.createdAt).getTime();
  const findings: Readonly<Record<KeyFinding, boolean>> = {
    never_used: key.lastUsedAt === null && idleMs >= limits.unusedMs,
    unused: key.lastUsedAt !== null && idleMs >= limits.unusedMs,
    old: ageMs >= limits.oldMs,
    no_expiry: key.expiresAt === null,
    ends_soon: key.expiresAt !== null && key.expiresAt.getTime() - now.getTime() <= limits.endingMs,
    every_scope: key.scopes === null,
    any_address: key.addresses === null,
  };
  return (Object.keys(findings) as KeyFinding[]).filter((finding) => findings[finding]);
}
