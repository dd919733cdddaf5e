import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { ApiProblem } from '../api.ts';
import { offersPasskeys, signInByPasskey, wasCancelled } from '../passkeys.ts';
import { usePageState, useWords } from '../words.ts';
import { Notice, useTitle } from './parts.tsx';

/** The frame of all pages before the sign-in. */
export function Door({ title, children }: { readonly title: ReactNode; readonly children: ReactNode }) {
  const { isSandbox, strings } = usePageState();
  return (
    <main className="door">
      <div className="door-card">
        <p className="brand">
          <img src="/icons/till.svg" alt="" width="28" height="28" /> Till
          {isSandbox && <span className="pill">{strings.sandboxTag}</span>}
        </p>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}

export function SignInPage() {
  const words = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [problem, setProblem] = useState<string>();
  useTitle(words.signInTitle);
  const signIn = async () => {
    try {
      setProblem(undefined);
      await signInByPasskey();
      client.clear();
      await navigate({ to: '/' });
    } catch (error) {
      const text = error instanceof ApiProblem ? error.message : words.passkeyRefused;
      setProblem(wasCancelled(error) ? words.passkeyCancelled : text);
    }
  };
  return (
    <Door title={words.signInTitle}>
      <p className="soft">{words.signInText}</p>
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      {offersPasskeys() ? (
        <button type="button" className="main wide" onClick={() => void signIn()}>
          {words.signInButton}
        </button>
      ) : (
        <Notice kind="warm">{words.noPasskeys}</Notice>
      )}
      <p className="soft small">{words.signInHelp}</p>
    </Door>
  );
}
