/** The texts of the page on which a merchant signs a refund. The page also uses texts of the checkout. */
const en = {
  title: 'Refund of {merchant}',
  signTitle: 'Sign for this refund',
  signText: 'Connect the wallet with {account}. This account received the payment, so only its signature counts.',
  to: 'To',
  from: 'From',
  feeKept: 'It includes {fee}, the fee of the payment. The operator of the gateway keeps that fee.',
  feeReturned:
    'It includes {fee}, the fee of the payment. The operator returns it to your float when the refund has arrived.',
  allowFirst: 'The token asks for a one-time permission first. Your wallet adds a network fee for it.',
  otherAccount: 'Your wallet shows {account}. Choose {wanted} in it, and try again.',
  notNow: 'The refund cannot be signed right now. Check the balance of the account, or try again in some minutes.',
  ranOut: 'The signature was not carried out in time, and nothing was paid by it. You can sign again.',
  sendingTitle: 'The refund is on its way',
  sendingText: 'Your part is done. You can close this page.',
  doneTitle: 'Refunded',
  doneText: '{amount} has arrived.',
  closedTitle: 'Nothing to sign now',
  stoppedText: 'The operator of the gateway has stopped this refund.',
  coolingText: 'The refund goes to another account than the payer’s. It can be signed when its waiting time is over.',
  preparingText: 'The refund is being prepared. This page goes on by itself.',
  heldText: 'The money is on an account of the operator, who sends the refund.',
  endedText: 'This refund has ended.',
  noScript: 'To sign in this browser, switch on JavaScript. This page shows the status and refreshes itself.',
};

export type RefundStrings = { readonly [key in keyof typeof en]: string };

const de: RefundStrings = {
  title: 'Erstattung von {merchant}',
  signTitle: 'Diese Erstattung unterschreiben',
  signText:
    'Verbinden Sie die Wallet mit {account}. Dieses Konto hat die Zahlung erhalten, darum zählt nur seine Unterschrift.',
  to: 'An',
  from: 'Von',
  feeKept: 'Darin sind {fee} enthalten, die Gebühr der Zahlung. Der Betreiber des Gateways behält sie.',
  feeReturned:
    'Darin sind {fee} enthalten, die Gebühr der Zahlung. Der Betreiber schreibt sie Ihrem Guthaben für Erstattungen gut, sobald die Erstattung angekommen ist.',
  allowFirst: 'Der Token braucht zuerst eine einmalige Erlaubnis. Dafür fällt eine Netzwerkgebühr an.',
  otherAccount: 'Ihre Wallet zeigt {account}. Wählen Sie dort {wanted} und versuchen Sie es noch einmal.',
  notNow:
    'Die Erstattung kann im Moment nicht unterschrieben werden. Prüfen Sie das Guthaben des Kontos, oder versuchen Sie es in einigen Minuten noch einmal.',
  ranOut:
    'Die Unterschrift wurde nicht rechtzeitig ausgeführt, und damit wurde nichts bezahlt. Sie können noch einmal unterschreiben.',
  sendingTitle: 'Die Erstattung ist unterwegs',
  sendingText: 'Ihr Teil ist getan. Sie können diese Seite schließen.',
  doneTitle: 'Erstattet',
  doneText: '{amount} ist angekommen.',
  closedTitle: 'Im Moment nichts zu unterschreiben',
  stoppedText: 'Der Betreiber des Gateways hat diese Erstattung angehalten.',
  coolingText:
    'Die Erstattung geht an ein anderes Konto als das des Zahlers. Sie kann unterschrieben werden, wenn ihre Wartezeit vorbei ist.',
  preparingText: 'Die Erstattung wird vorbereitet. Diese Seite geht von selbst weiter.',
  heldText: 'Das Geld liegt auf einem Konto des Betreibers, der die Erstattung sendet.',
  endedText: 'Diese Erstattung ist beendet.',
  noScript:
    'Um in diesem Browser zu unterschreiben, schalten Sie JavaScript ein. Diese Seite zeigt den Stand und lädt sich selbst neu.',
};

const fr: RefundStrings = {
  title: 'Remboursement de {merchant}',
  signTitle: 'Signer ce remboursement',
  signText:
    'Connectez le portefeuille avec {account}. Ce compte a reçu le paiement, donc seule sa signature est acceptée.',
  to: 'À',
  from: 'De',
  feeKept: 'Ce montant comprend {fee}, les frais du paiement. L’opérateur de la passerelle les conserve.',
  feeReturned:
    'Ce montant comprend {fee}, les frais du paiement. L’opérateur les verse à votre réserve de remboursement dès que le remboursement est arrivé.',
  allowFirst: 'Le jeton demande d’abord une autorisation unique. Votre portefeuille y ajoute des frais de réseau.',
  otherAccount: 'Votre portefeuille affiche {account}. Choisissez-y {wanted}, puis réessayez.',
  notNow:
    'Le remboursement ne peut pas être signé pour l’instant. Vérifiez le solde du compte, ou réessayez dans quelques minutes.',
  ranOut: 'La signature n’a pas été exécutée à temps, et rien n’a été payé. Vous pouvez signer de nouveau.',
  sendingTitle: 'Le remboursement est en route',
  sendingText: 'Votre part est faite. Vous pouvez fermer cette page.',
  doneTitle: 'Remboursé',
  doneText: '{amount} est arrivé.',
  closedTitle: 'Rien à signer pour l’instant',
  stoppedText: 'L’opérateur de la passerelle a arrêté ce remboursement.',
  coolingText:
    'Le remboursement va vers un autre compte que celui du payeur. Il pourra être signé à la fin de son délai d’attente.',
  preparingText: 'Le remboursement est en préparation. Cette page continue d’elle-même.',
  heldText: 'L’argent est sur un compte de l’opérateur, qui envoie le remboursement.',
  endedText: 'Ce remboursement est terminé.',
  noScript: 'Pour signer dans ce navigateur, activez JavaScript. Cette page affiche l’état et s’actualise d’elle-même.',
};

const es: RefundStrings = {
  title: 'Reembolso de {merchant}',
  signTitle: 'Firmar este reembolso',
  signText: 'Conecta la billetera con {account}. Esta cuenta recibió el pago, así que solo cuenta su firma.',
  to: 'Para',
  from: 'De',
  feeKept: 'Incluye {fee}, la comisión del pago. El operador de la pasarela se queda con ella.',
  feeReturned:
    'Incluye {fee}, la comisión del pago. El operador la devuelve a tu fondo de reembolsos cuando el reembolso haya llegado.',
  allowFirst: 'El token pide antes un permiso único. Tu billetera añade una comisión de red.',
  otherAccount: 'Tu billetera muestra {account}. Elige {wanted} en ella e inténtalo de nuevo.',
  notNow:
    'El reembolso no se puede firmar ahora. Revisa el saldo de la cuenta o inténtalo de nuevo dentro de unos minutos.',
  ranOut: 'La firma no se ejecutó a tiempo y no se pagó nada. Puedes firmar de nuevo.',
  sendingTitle: 'El reembolso está en camino',
  sendingText: 'Tu parte está hecha. Puedes cerrar esta página.',
  doneTitle: 'Reembolsado',
  doneText: '{amount} ha llegado.',
  closedTitle: 'Nada que firmar ahora',
  stoppedText: 'El operador de la pasarela ha detenido este reembolso.',
  coolingText:
    'El reembolso va a otra cuenta distinta de la del pagador. Se podrá firmar cuando termine su tiempo de espera.',
  preparingText: 'El reembolso se está preparando. Esta página continúa sola.',
  heldText: 'El dinero está en una cuenta del operador, que envía el reembolso.',
  endedText: 'Este reembolso ha terminado.',
  noScript: 'Para firmar en este navegador, activa JavaScript. Esta página muestra el estado y se actualiza sola.',
};

const pt: RefundStrings = {
  title: 'Reembolso de {merchant}',
  signTitle: 'Assinar este reembolso',
  signText: 'Conecte a carteira com {account}. Esta conta recebeu o pagamento, por isso só a assinatura dela vale.',
  to: 'Para',
  from: 'De',
  feeKept: 'Inclui {fee}, a taxa do pagamento. O operador do gateway fica com ela.',
  feeReturned:
    'Inclui {fee}, a taxa do pagamento. O operador devolve-a ao seu fundo de reembolsos quando o reembolso tiver chegado.',
  allowFirst: 'O token pede antes uma permissão única. A sua carteira acrescenta uma taxa de rede.',
  otherAccount: 'A sua carteira mostra {account}. Escolha {wanted} nela e tente de novo.',
  notNow: 'O reembolso não pode ser assinado agora. Verifique o saldo da conta ou tente de novo em alguns minutos.',
  ranOut: 'A assinatura não foi executada a tempo e nada foi pago. Pode assinar de novo.',
  sendingTitle: 'O reembolso está a caminho',
  sendingText: 'A sua parte está feita. Pode fechar esta página.',
  doneTitle: 'Reembolsado',
  doneText: '{amount} chegou.',
  closedTitle: 'Nada para assinar agora',
  stoppedText: 'O operador do gateway parou este reembolso.',
  coolingText:
    'O reembolso vai para outra conta que não a do pagador. Pode ser assinado quando o tempo de espera terminar.',
  preparingText: 'O reembolso está a ser preparado. Esta página continua sozinha.',
  heldText: 'O dinheiro está numa conta do operador, que envia o reembolso.',
  endedText: 'Este reembolso terminou.',
  noScript: 'Para assinar neste navegador, ative o JavaScript. Esta página mostra o estado e atualiza-se sozinha.',
};

const ja: RefundStrings = {
  title: '{merchant}の返金',
  signTitle: 'この返金に署名',
  signText: '{account}のウォレットを接続してください。支払いを受け取ったこのアカウントの署名だけが有効です。',
  to: '宛先',
  from: '送金元',
  feeKept: '支払いの手数料{fee}を含みます。手数料はゲートウェイの運営者が保持します。',
  feeReturned: '支払いの手数料{fee}を含みます。返金が届くと、運営者がお客様の返金用残高に手数料を戻します。',
  allowFirst: 'このトークンには、最初に一度だけ許可が必要です。ネットワーク手数料がかかります。',
  otherAccount: 'ウォレットには{account}が表示されています。{wanted}を選んで、もう一度お試しください。',
  notNow: '現在、この返金には署名できません。アカウントの残高を確認するか、数分後にもう一度お試しください。',
  ranOut: '署名は時間内に実行されず、何も支払われていません。もう一度署名できます。',
  sendingTitle: '返金を送金中です',
  sendingText: '必要な操作は終わりました。このページを閉じてもかまいません。',
  doneTitle: '返金済み',
  doneText: '{amount}が届きました。',
  closedTitle: '現在、署名するものはありません',
  stoppedText: 'ゲートウェイの運営者がこの返金を停止しています。',
  coolingText: 'この返金は支払者とは別のアカウントに送られます。待機時間が終わると署名できます。',
  preparingText: '返金を準備しています。このページは自動的に進みます。',
  heldText: '資金は運営者のアカウントにあり、運営者が返金を送ります。',
  endedText: 'この返金は終了しました。',
  noScript:
    'このブラウザで署名するには、JavaScriptを有効にしてください。このページは状態を表示し、自動的に更新されます。',
};

const ar: RefundStrings = {
  title: 'استرداد من {merchant}',
  signTitle: 'وقّع هذا الاسترداد',
  signText: 'وصِّل المحفظة التي فيها {account}. هذا الحساب هو الذي استلم الدفعة، لذلك لا يُقبل إلا توقيعه.',
  to: 'إلى',
  from: 'من',
  feeKept: 'يشمل المبلغ {fee}، وهي رسوم الدفعة. يحتفظ بها مشغّل البوابة.',
  feeReturned: 'يشمل المبلغ {fee}، وهي رسوم الدفعة. يعيدها المشغّل إلى رصيدك المخصص للاسترداد عند وصول الاسترداد.',
  allowFirst: 'تطلب العملة أولًا إذنًا لمرة واحدة. تضيف محفظتك رسوم الشبكة.',
  otherAccount: 'تعرض محفظتك {account}. اختر فيها {wanted} ثم حاول مرة أخرى.',
  notNow: 'لا يمكن توقيع الاسترداد الآن. تحقق من رصيد الحساب، أو حاول مرة أخرى بعد بضع دقائق.',
  ranOut: 'لم يُنفَّذ التوقيع في الوقت المحدد، ولم يُدفع شيء. يمكنك التوقيع مرة أخرى.',
  sendingTitle: 'الاسترداد في الطريق',
  sendingText: 'انتهى دورك. يمكنك إغلاق هذه الصفحة.',
  doneTitle: 'تم الاسترداد',
  doneText: 'وصل {amount}.',
  closedTitle: 'لا شيء للتوقيع الآن',
  stoppedText: 'أوقف مشغّل البوابة هذا الاسترداد.',
  coolingText: 'يذهب الاسترداد إلى حساب غير حساب الدافع. يمكن توقيعه بعد انتهاء مدة الانتظار.',
  preparingText: 'يجري تحضير الاسترداد. تتابع هذه الصفحة تلقائيًا.',
  heldText: 'المال في حساب لدى المشغّل، وهو الذي يرسل الاسترداد.',
  endedText: 'انتهى هذا الاسترداد.',
  noScript: 'للتوقيع في هذا المتصفح، فعّل JavaScript. تعرض هذه الصفحة الحالة وتُحدَّث تلقائيًا.',
};

export const REFUND_STRINGS: Readonly<Record<string, RefundStrings>> = { en, de, fr, es, pt, ja, ar };
