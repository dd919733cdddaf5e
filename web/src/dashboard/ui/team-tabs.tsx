import { Link } from '@tanstack/react-router';
import { useMay } from '../queries.ts';
import { useWords } from '../words.ts';

export function TeamTabs() {
  const words = useWords();
  const mayRead = useMay('audit:read');
  if (!mayRead) return null;
  const active = { 'aria-current': 'page' } as const;
  return (
    <nav className="tabs" aria-label={words.team}>
      <Link to="/team" activeOptions={{ exact: true }} activeProps={active}>
        {words.people}
      </Link>
      <Link to="/team/audit-log" activeProps={active}>
        {words.auditLog}
      </Link>
    </nav>
  );
}
