import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { Fill } from '../../shared/fill.tsx';
import { clamp } from '../../shared/text.ts';
import { ApiProblem, call } from '../api.ts';
import type { Person } from '../api-types.ts';
import { addPasskey, deviceName, offersPasskeys } from '../passkeys.ts';
import { sessionQuery } from '../queries.ts';
import { useWords } from '../words.ts';
import { Notice, useTitle } from './parts.tsx';
import { passkeyProblem } from './problem-text.ts';
import { Door } from './sign-in.tsx';

type Step =
  | { readonly at: 'opening' }
  | { readonly at: 'asking' }
  | { readonly at: 'failed' }
  | { readonly at: 'joined'; readonly person: Person };

/** The page of a one-time sign-in link. If somebody is already signed in, the page asks before it uses the link. */
export function JoinPage() {
  const words = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [step, setStep] = useState<Step>({ at: 'opening' });
  // The token is kept in memory only, and removed from the URL and the history.
  const token = useRef(location.hash.slice(1));
  const hasBegun = useRef(false);
  useTitle(words.joinTitle);

  const open = useCallback(async () => {
    setStep({ at: 'opening' });
    try {
      const { person } = await call<{ person: Person }>('POST', '/v1/sessions', { body: { link: token.current } });
      client.clear();
      const session = await client.fetchQuery(sessionQuery);
      if (session.passkeys > 0 || !offersPasskeys()) await navigate({ to: '/', replace: true });
      else setStep({ at: 'joined', person });
    } catch (error) {
      setStep({ at: error instanceof ApiProblem ? 'failed' : 'asking' });
    }
  }, [client, navigate]);

  useEffect(() => {
    // A link works once, and React may run effects twice.
    if (hasBegun.current) return;
    hasBegun.current = true;
    history.replaceState(history.state, '', location.pathname);
    if (token.current === '') return setStep({ at: 'failed' });
    client.fetchQuery(sessionQuery).then(
      () => setStep({ at: 'asking' }),
      () => open(),
    );
  }, [client, open]);

  if (step.at === 'joined') return <FirstPasskey person={step.person} />;
  if (step.at === 'failed') {
    return (
      <Door title={words.joinFailedTitle}>
        <p className="soft">{words.joinFailedText}</p>
        <a className="button main wide" href="/dashboard">
          {words.signInTitle}
        </a>
      </Door>
    );
  }
  return (
    <Door title={words.joinTitle}>
      <p className="soft">{step.at === 'asking' ? words.joinAnother : words.joinText}</p>
      {step.at === 'asking' && (
        <button type="button" className="main wide" onClick={() => void open()}>
          {words.joinButton}
        </button>
      )}
    </Door>
  );
}

function FirstPasskey({ person }: { readonly person: Person }) {
  const words = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [problem, setProblem] = useState<string>();
  const leave = () => navigate({ to: '/', replace: true });
  const add = async () => {
    try {
      setProblem(undefined);
      await addPasskey(deviceName());
      await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
      await leave();
    } catch (error) {
      setProblem(passkeyProblem(words, error));
    }
  };
  return (
    <Door title={<Fill text={words.firstPasskeyTitle} name={clamp(person.name, 40)} />}>
      <p className="soft">{words.firstPasskeyText}</p>
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      <button type="button" className="main wide" onClick={() => void add()}>
        {words.addPasskey}
      </button>
      <button type="button" className="quiet wide" onClick={() => void leave()}>
        {words.later}
      </button>
    </Door>
  );
}
