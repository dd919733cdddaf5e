// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Batch} from "./Batch.sol";
import {IPermit2, IWalletToken} from "./Tokens.sol";

/**
 * Takes signed payments from payers and, in the same transaction, pays them out: the net amount to the recipient, the
 * fees to the fee account. It has no owner, no setting and no balance of its own.
 *
 * Every payment has a commitment: the hash of the whole order for the money. It is the nonce that the payer signs, so a
 * signature is valid for exactly this order. Anyone may relay; nobody can redirect.
 */
contract Collector is Batch {
    /**
     * One payment was made in full. The commitment is the hash of the chain's id, the address of this contract and the words
     * of this event, in this order. So the event proves its own terms.
     */
    event Collected(
        bytes32 indexed commitment,
        uint256 nonceSpace,
        address token,
        address feeAccount,
        bytes32 subject,
        address payer,
        uint256 amount,
        uint256 fee,
        address recipient,
        uint256 deadline
    );

    /**
     * One item of a batch was not carried out, and its payer kept the money. The reason may be truncated. It proves nothing:
     * anybody who knows the terms of an item can have it refused, for example for lack of gas or by a wrong signature.
     */
    event Refused(bytes32 indexed commitment, bytes reason);

    error MalformedItem();
    error FeeNotPaid(bytes reason);

    // Reasons of refused items and of refused payments in native coin.
    error NothingToPay();
    error FeeAboveAmount();
    error Late();
    error InexactValue();
    error AlreadyPaid();

    /// The payment method of a batch.
    enum Kind {
        Key,
        Wallet,
        Permit2
    }

    /// One item, unpacked. Its commitment is the hash of the first eleven words. The event has all but the first two.
    struct Order {
        uint256 chainId;
        address collector;
        // The place where the nonce is used up. An order for one of them cannot be carried out by another.
        uint256 nonceSpace;
        address token;
        address feeAccount;
        bytes32 subject;
        address payer;
        uint256 amount;
        uint256 fee;
        address recipient;
        uint256 deadline;
        bytes32 commitment;
        Kind kind;
        // The Collector's token balance before the item: fees of earlier items, and unsolicited transfers.
        uint256 held;
    }

    // The nonce spaces: this contract for native coin, the token for EIP-3009, and Permit2.
    uint256 private constant COIN_SPACE = 0;
    uint256 private constant TOKEN_SPACE = 1;
    uint256 private constant PERMIT2_SPACE = 2;

    IPermit2 private constant PERMIT2 = IPermit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);

    /// The selector and three words. The items follow.
    uint256 private constant ARGUMENT_BYTES = 100;

    /// Packed: subject 32, payer 20, recipient 20, amount 16, fee 16, deadline 5, length of the signature 2 bytes.
    uint256 private constant HEAD_BYTES = 111;

    /// The words of an `Order`, and the words that its commitment covers.
    uint256 private constant ORDER_BYTES = 448;
    uint256 private constant COMMITTED_BYTES = 352;

    /// The words of `Collected` besides its commitment: the committed words without the chain and the Collector.
    uint256 private constant EVENT_BYTES = 288;

    /// The selector of EIP-3009's `receiveWithAuthorization` in the form that takes v, r and s.
    uint256 private constant RECEIVE_WITH_AUTHORIZATION = 0xef55bec6;

    /// Completed payments in native coin. For payments in tokens, the token or Permit2 stores the used nonces.
    mapping(bytes32 commitment => bool) public isPaid;

    /// Carries out a batch of payments that payers signed with their keys, for a token with EIP-3009.
    function collectByKey(address token, address feeAccount, uint256 itemGas) external returns (bytes memory) {
        return _collect(Kind.Key, token, feeAccount, itemGas);
    }

    /// The same with signatures of any length, for tokens whose EIP-3009 supports wallet contracts (ERC-1271) too.
    function collectByWallet(address token, address feeAccount, uint256 itemGas) external returns (bytes memory) {
        return _collect(Kind.Wallet, token, feeAccount, itemGas);
    }

    /// The same through Permit2's SignatureTransfer, for any token with an allowance of the payers for Permit2.
    function collectByPermit2(address token, address feeAccount, uint256 itemGas) external returns (bytes memory) {
        return _collect(Kind.Permit2, token, feeAccount, itemGas);
    }

    /**
     * Carries out the packed items that follow the arguments, one by one, all in one token and with one fee account. A
     * failed item is undone alone. Each may use `itemGas`; the batch reverts as a whole before it starts an item with
     * less gas, and if the fee account cannot be paid.
     *
     * @return refusals for each item that failed: its index in 2 bytes, the length of the reason in 2, the reason.
     */
    function _collect(Kind kind, address token, address feeAccount, uint256 itemGas)
        private
        once
        returns (bytes memory refusals)
    {
        bytes calldata items = msg.data[ARGUMENT_BYTES:];
        // Unsolicited tokens of this contract are never moved: every check below starts from this balance.
        uint256 stray = _balance(token, address(this));
        uint256 held = stray;
        uint256 neededGas = _neededGas(itemGas);
        uint256 index = 0;
        refusals = new bytes(0);
        for (uint256 offset = 0; offset < items.length; ++index) {
            (Order memory order, uint256 size) = _unpack(kind, token, feeAccount, held, items, offset);
            offset += size;
            require(offset <= items.length, MalformedItem());
            uint256 gasBefore = gasleft();
            require(gasBefore > neededGas, NotEnoughGas());
            if (_attempt(order, size - HEAD_BYTES, itemGas)) {
                held += order.fee;
            } else {
                _refuse(refusals, index, order.commitment, _isSpent(gasBefore, itemGas));
            }
        }
        if (held > stray) {
            if (!_transfer(token, feeAccount, held - stray, gasleft())) revert FeeNotPaid(_returned());
            require(_balance(token, address(this)) == stray, WrongPayout());
        }
    }

    /**
     * One item: pull the amount, pay the recipient, check that exactly the fee is left. The last check covers the pull, too:
     * a short arrival would have to be paid from money of others. A token that pretends both transfers of an item without a
     * fee is not found out, as little as one that lies about balances. The Collector calls this on itself, so that the EVM
     * undoes a failed item.
     */
    function carryOut(Order calldata order, bytes calldata signature) external {
        require(msg.sender == address(this), NotForYou());
        (address token, uint256 amount, uint256 fee, uint256 held) = (order.token, order.amount, order.fee, order.held);
        // A token that accepts any call would let anybody forge a payer with an amount of zero.
        require(amount > 0, NothingToPay());
        require(fee <= amount, FeeAboveAmount());
        // The last check sees no payout to the Collector itself, nor that its money has not arrived.
        require(order.recipient != address(this), WrongPayout());

        if (order.kind == Kind.Permit2 && fee == 0) {
            _passOn(order, signature);
        } else {
            _pull(order, signature, address(this));
            if (fee < amount && !_transfer(token, order.recipient, amount - fee, gasleft())) revert PayoutFailed(_returned());
        }
        require(_balance(token, address(this)) == held + fee, WrongPayout());

        _tell(order);
    }

    /**
     * A payment in native coin, made by the payer with a transaction of their own. Its token is the zero address. Each
     * can be made once, before its deadline, with exactly its amount.
     */
    function pay(
        address feeAccount,
        bytes32 subject,
        uint256 amount,
        uint256 fee,
        address recipient,
        uint256 deadline
    ) external payable once {
        require(block.timestamp <= deadline, Late());
        require(msg.value == amount, InexactValue());
        require(amount > 0, NothingToPay());
        require(fee <= amount, FeeAboveAmount());
        bytes32 commitment = keccak256(
            abi.encode(
                block.chainid,
                address(this),
                COIN_SPACE,
                address(0),
                feeAccount,
                subject,
                msg.sender,
                amount,
                fee,
                recipient,
                deadline
            )
        );
        require(!isPaid[commitment], AlreadyPaid());
        isPaid[commitment] = true;

        if (fee < amount) require(_send(recipient, amount - fee, gasleft()), PayoutFailed(""));
        if (fee > 0) require(_send(feeAccount, fee, gasleft()), PayoutFailed(""));
        emit Collected(
            commitment, COIN_SPACE, address(0), feeAccount, subject, msg.sender, amount, fee, recipient, deadline
        );
    }

    /// Permit2 pays the recipient directly if there is no fee. The recipient must get all of it.
    function _passOn(Order calldata order, bytes calldata signature) private {
        (address token, address recipient) = (order.token, order.recipient);
        uint256 expected = _balance(token, recipient);
        if (order.payer != recipient) expected += order.amount;
        _pull(order, signature, recipient);
        require(_balance(token, recipient) == expected, ShortArrival());
    }

    /// Takes the signed amount from the payer. The nonce is the commitment: it can be used once.
    function _pull(Order calldata order, bytes calldata signature, address to) private {
        if (order.kind == Kind.Key) {
            require(signature.length == 64, MalformedItem());
            _pullByKey(order, signature);
        } else if (order.kind == Kind.Wallet) {
            IWalletToken(order.token).receiveWithAuthorization(
                order.payer, to, order.amount, 0, order.deadline, order.commitment, signature
            );
        } else {
            PERMIT2.permitTransferFrom(
                IPermit2.PermitTransferFrom({
                    permitted: IPermit2.TokenPermissions({token: order.token, amount: order.amount}),
                    nonce: uint256(order.commitment),
                    deadline: order.deadline
                }),
                IPermit2.SignatureTransferDetails({to: to, requestedAmount: order.amount}),
                order.payer,
                signature
            );
        }
    }

    /// `receiveWithAuthorization(payer, this, amount, 0, deadline, commitment, v, r, s)`: the most frequent case.
    function _pullByKey(Order calldata order, bytes calldata signature) private {
        assembly ("memory-safe") {
            // EIP-2098: the highest bit of the second word selects one of two possible keys.
            let vs := calldataload(add(signature.offset, 0x20))
            let input := mload(0x40)
            mstore(input, shl(224, RECEIVE_WITH_AUTHORIZATION))
            mstore(add(input, 0x04), calldataload(add(order, 0xc0)))
            mstore(add(input, 0x24), address())
            mstore(add(input, 0x44), calldataload(add(order, 0xe0)))
            mstore(add(input, 0x64), 0)
            calldatacopy(add(input, 0x84), add(order, 0x140), 0x40) // deadline, commitment
            mstore(add(input, 0xc4), add(27, shr(255, vs)))
            mstore(add(input, 0xe4), calldataload(signature.offset))
            mstore(add(input, 0x104), shr(1, shl(1, vs)))
            if iszero(call(gas(), calldataload(add(order, 0x60)), 0, input, 0x124, 0, 0)) {
                returndatacopy(input, 0, returndatasize())
                revert(input, returndatasize())
            }
        }
    }

    /// Emits `Collected`, with the words of the order.
    function _tell(Order calldata order) private {
        bytes32 topic = Collected.selector;
        assembly ("memory-safe") {
            let data := mload(0x40)
            calldatacopy(data, add(order, 0x40), EVENT_BYTES)
            log2(data, EVENT_BYTES, topic, calldataload(add(order, 0x160)))
        }
    }

    /**
     * Reads the packed item at `offset`. In memory the order lies between the selector of `carryOut` and the signature.
     * The three together are the calldata that `_attempt` sends.
     */
    function _unpack(Kind kind, address token, address feeAccount, uint256 held, bytes calldata items, uint256 offset)
        private
        view
        returns (Order memory order, uint256 size)
    {
        uint256 selector = uint32(this.carryOut.selector);
        uint256 nonceSpace = kind == Kind.Permit2 ? PERMIT2_SPACE : TOKEN_SPACE;
        assembly ("memory-safe") {
            let packed := add(items.offset, offset)
            let signatureBytes := shr(240, calldataload(add(packed, 109)))
            size := add(HEAD_BYTES, signatureBytes)

            order := add(mload(0x40), 0x20)
            mstore(0x40, add(order, add(ORDER_BYTES, add(0x40, signatureBytes))))
            mstore(sub(order, 0x20), selector)
            mstore(order, chainid())
            mstore(add(order, 0x20), address())
            mstore(add(order, 0x40), nonceSpace)
            mstore(add(order, 0x60), token)
            mstore(add(order, 0x80), feeAccount)
            mstore(add(order, 0xa0), calldataload(packed))
            mstore(add(order, 0xc0), shr(96, calldataload(add(packed, 32))))
            mstore(add(order, 0xe0), shr(128, calldataload(add(packed, 72))))
            mstore(add(order, 0x100), shr(128, calldataload(add(packed, 88))))
            mstore(add(order, 0x120), shr(96, calldataload(add(packed, 52))))
            mstore(add(order, 0x140), shr(216, calldataload(add(packed, 104))))
            mstore(add(order, 0x160), keccak256(order, COMMITTED_BYTES))
            mstore(add(order, 0x180), kind)
            mstore(add(order, 0x1a0), held)
            // The signature is the second argument: offset, length, bytes.
            mstore(add(order, 0x1c0), add(ORDER_BYTES, 0x20))
            mstore(add(order, 0x1e0), signatureBytes)
            calldatacopy(add(order, 0x200), add(packed, HEAD_BYTES), signatureBytes)
        }
    }

    /// Carries out one order. A failure undoes it.
    function _attempt(Order memory order, uint256 signatureBytes, uint256 itemGas) private returns (bool isCollected) {
        assembly ("memory-safe") {
            isCollected := call(itemGas, address(), 0, sub(order, 4), add(0x204, signatureBytes), 0, 0)
            // The next order may overwrite this one in memory: the caller reads its values at once.
            mstore(0x40, sub(order, 0x20))
        }
    }

    /// Reports the reason of the last failed call, in an event and in the return data of the batch.
    function _refuse(bytes memory refusals, uint256 index, bytes32 commitment, bool isSpent) private {
        // A nested call that runs out of gas gives no reason, and the reason of its caller is misleading.
        bytes memory reason = isSpent ? abi.encodeWithSelector(OutOfGas.selector) : _returned();
        emit Refused(commitment, reason);
        // The event's encoding lies behind the reason in memory and is not needed any more.
        _append(refusals, index, reason);
    }
}
