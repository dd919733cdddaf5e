import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { accentSheetPath } from '../../../../src/domain/accent-path.ts';
import type { ServerClock } from '../../shared/server-clock.ts';
import { clamp } from '../../shared/text.ts';
import type { Pos } from '../pos.ts';
import type { PosView } from '../pos-state.ts';
import { Keypad } from './keypad.tsx';
import { MerchantChoice } from './merchant-choice.tsx';
import { Message } from './message.tsx';
import { Recent } from './recent.tsx';
import { Settings } from './settings.tsx';
import { Taking } from './taking.tsx';
import { usePageState, useWords } from './words.ts';

export function App({ pos, clock }: { readonly pos: Pos; readonly clock: ServerClock }) {
  const words = useWords();
  const view = useSyncExternalStore(pos.subscribe, pos.view);
  const { open, place } = view.kept;
  useTitle(place?.merchantName);
  useAccent(place?.brand?.accentColor ?? null);
  if (view.session === 'out') return <Door view={view} />;
  if (view.session === 'no_merchant') return <MerchantChoice pos={pos} view={view} />;
  if (place === null) {
    return (
      <Message title={words.loading}>
        <Connection view={view} />
      </Message>
    );
  }
  return (
    <Frame pos={pos} view={view}>
      {open === null ? (
        <div className="desk">
          <Keypad pos={pos} view={view} />
          <Recent payments={view.kept.recent} />
        </div>
      ) : (
        <Taking key={open.order.key} pos={pos} view={view} open={open} clock={clock} />
      )}
    </Frame>
  );
}

interface FrameProps {
  readonly pos: Pos;
  readonly view: PosView;
  readonly children: ReactNode;
}

function Frame({ pos, view, children }: FrameProps) {
  const words = useWords();
  const { isSandbox } = usePageState();
  const [isSetting, setSetting] = useState(false);
  const { merchantName = '', brand } = view.kept.place ?? {};
  return (
    <div className="pos">
      <header className="top">
        <h1 className="top-name">
          {brand?.logoUrl != null && <img className="top-logo" src={brand.logoUrl} alt="" />}
          <bdi>{clamp(merchantName, 40)}</bdi>
          {isSandbox && <span className="pill">{words.sandboxTag}</span>}
        </h1>
        <button type="button" className="quiet" onClick={() => setSetting(true)}>
          {words.settings}
        </button>
      </header>
      <main>{children}</main>
      <Connection view={view} />
      {isSetting && <Settings pos={pos} view={view} onClose={() => setSetting(false)} />}
    </div>
  );
}

/** Says so while there is no connection. */
function Connection({ view }: { readonly view: PosView }) {
  const words = useWords();
  return (
    <p className="connection" role="status">
      {view.isOffline && <span>{words.offline}</span>}
    </p>
  );
}

/** Shown while nobody is signed in on this device. */
function Door({ view }: { readonly view: PosView }) {
  const words = useWords();
  return (
    <Message title={words.signInTitle}>
      {view.problem?.kind === 'link' && (
        <p className="problem" role="alert">
          {words.linkFailed}
        </p>
      )}
      <p>{words.signInText}</p>
    </Message>
  );
}

export function OtherWindow() {
  const words = useWords();
  return (
    <Message title={words.otherWindowTitle}>
      <p>{words.otherWindowText}</p>
      <button type="button" className="main" onClick={() => location.reload()}>
        {words.useHere}
      </button>
    </Message>
  );
}

/** Applies the merchant's colours, by a stylesheet of the gateway. */
function useAccent(accent: string | null): void {
  useEffect(() => {
    if (accent === null) return;
    const sheet = document.createElement('link');
    sheet.rel = 'stylesheet';
    sheet.href = accentSheetPath(accent);
    document.head.append(sheet);
    return () => sheet.remove();
  }, [accent]);
}

function useTitle(merchant: string | undefined): void {
  const { title } = useWords();
  useEffect(() => {
    document.title = merchant === undefined ? title : `${clamp(merchant, 40)} · ${title}`;
  }, [title, merchant]);
}
