import { Link } from '@tanstack/react-router';
import { useSession } from '../queries.ts';
import type { Strings } from '../strings/en.ts';
import { useWords } from '../words.ts';

/** The tabs of each section. A tab is hidden from people without its right. */
export const TABS = {
  team: [
    { to: '/team', word: 'people', right: 'people:read' },
    { to: '/team/audit-log', word: 'auditLog', right: 'audit:read' },
  ],
  operator: [
    { to: '/operator', word: 'state', right: 'operator:read' },
    { to: '/operator/examination', word: 'examination', right: 'operator:read' },
  ],
  developers: [
    { to: '/developers', word: 'apiKeys', right: 'keys:read' },
    { to: '/webhooks', word: 'webhooks', right: 'webhooks' },
    { to: '/developers/events', word: 'events', right: 'keys:read' },
    { to: '/developers/requests', word: 'requests', right: 'keys:read' },
  ],
} as const satisfies Record<string, readonly { to: string; word: keyof Strings; right: string }[]>;

export function Tabs({ of }: { readonly of: keyof typeof TABS }) {
  const words = useWords();
  const { rights } = useSession();
  const shown = TABS[of].filter(({ right }) => rights.includes(right));
  if (shown.length < 2) return null;
  return (
    <nav className="tabs" aria-label={words[of]}>
      {shown.map(({ to, word }) => (
        <Link key={to} to={to} activeOptions={{ exact: true }} activeProps={{ 'aria-current': 'page' }}>
          {words[word]}
        </Link>
      ))}
      {of === 'developers' && (
        <a href="/docs" className="tab-away">
          {words.apiReference}
        </a>
      )}
    </nav>
  );
}
