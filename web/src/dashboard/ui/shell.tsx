import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Navigate, Outlet, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { SearchGlyph } from '../../shared/glyphs.tsx';
import { clamp, initialsOf } from '../../shared/text.ts';
import { ApiProblem, call, type Mode, readMode, setMode } from '../api.ts';
import { sessionQuery, useSession } from '../queries.ts';
import { usePageState, useWords } from '../words.ts';
import { LeaveGlyph, MenuGlyph } from './glyphs.tsx';
import { NewVersion } from './new-version.tsx';
import { usePagesSeen } from './pages.ts';
import { Palette } from './palette.tsx';
import { PartnerChooser } from './partner-chooser.tsx';
import { Notice } from './parts.tsx';
import { useShortcuts } from './use-shortcuts.ts';
import { VerifyProvider } from './verify.tsx';

/** The frame of all pages for signed-in people. */
export function Shell() {
  const words = useWords();
  const { data, error, refetch } = useQuery(sessionQuery);
  if (error instanceof ApiProblem && error.status === 401) return <Navigate to="/sign-in" replace />;
  if (data === undefined) {
    return (
      <main className="door">
        {error === null ? (
          <p className="soft">{words.loading}</p>
        ) : (
          <div className="door-card">
            <Notice kind="bad">{words.unreachable}</Notice>
            <button type="button" className="main" onClick={() => void refetch()}>
              {words.tryAgain}
            </button>
          </div>
        )}
      </main>
    );
  }
  return (
    <VerifyProvider>
      <Frame />
    </VerifyProvider>
  );
}

function Frame() {
  const words = useWords();
  const { isSandbox } = usePageState();
  const { person } = useSession();
  const pages = usePagesSeen();
  const [isSearching, setSearching] = useState(false);
  useShortcuts(() => setSearching(true));
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {words.skipToContent}
      </a>
      <header className="side">
        <p className="brand">
          <img src="/icons/till.svg" alt="" width="24" height="24" /> Till
          {isSandbox && <span className="pill">{words.sandboxTag}</span>}
        </p>
        <button type="button" className="search-button" onClick={() => setSearching(true)}>
          <SearchGlyph />
          <span>{words.palette}</span>
          <kbd dir="ltr">⌘K</kbd>
        </button>
        <nav aria-label={words.menu}>
          {pages.map(({ to, word, Glyph }) => (
            <Link key={to} to={to} activeOptions={{ exact: to === '/' }} activeProps={{ 'aria-current': 'page' }}>
              <Glyph />
              <span>{words[word]}</span>
            </Link>
          ))}
          <button type="button" className="nav-more" onClick={() => setSearching(true)}>
            <MenuGlyph />
            <span>{words.allPages}</span>
          </button>
        </nav>
        {person.belongsTo === 'operator' && <PartnerChooser />}
        <Whoami />
      </header>
      <main id="content" tabIndex={-1}>
        <NewVersion />
        <Outlet />
      </main>
      {isSearching && <Palette onClose={() => setSearching(false)} />}
    </div>
  );
}

function Whoami() {
  const words = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { person, partner, merchant, modes } = useSession();
  const mode = readMode();
  const signOut = async () => {
    await call('DELETE', '/v1/sessions/current').catch(() => undefined);
    client.clear();
    await navigate({ to: '/sign-in' });
  };
  const choose = async (next: Mode) => {
    setMode(next);
    await client.resetQueries();
  };
  return (
    <div className="whoami">
      {modes.length > 1 && (
        <fieldset className="segments">
          <legend className="unseen">{words.mode}</legend>
          {modes.map((each) => (
            <label key={each}>
              <input type="radio" name="mode" checked={each === mode} onChange={() => void choose(each)} />
              <span>{words[each]}</span>
            </label>
          ))}
        </fieldset>
      )}
      <div className="whoami-row">
        <span className="avatar" aria-hidden="true">
          {initialsOf(person.name)}
        </span>
        <span className="whoami-names">
          <bdi>{clamp(person.name, 40)}</bdi>
          <bdi className="soft small">{clamp(merchant?.name ?? partner?.name ?? person.email, 40)}</bdi>
        </span>
        <button
          type="button"
          className="quiet icon-button"
          onClick={() => void signOut()}
          aria-label={words.signOut}
          title={words.signOut}
        >
          <LeaveGlyph />
        </button>
      </div>
    </div>
  );
}
