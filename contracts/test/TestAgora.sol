// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/**
 * A token for tests in the shape of Agora's AUSD: EIP-3009 in both forms, EIP-5267, and no `DOMAIN_SEPARATOR()`, the
 * reverse of Circle's. It freezes accounts, and reverts with custom errors.
 *
 * The functions of EIP-3009 stand in each of the test tokens, as in the contracts that they imitate: a file shows a token whole.
 */
contract TestAgora {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    error AccountIsFrozen(address frozenAccount);
    error AlreadyInitialized();
    error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed);
    error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed);
    error ExpiredAuthorization();
    error InvalidAuthorization();
    error InvalidPayee(address caller, address payee);
    error InvalidSignature();
    error OnlyAdmin();
    error TransferPaused();
    error UsedOrCanceledAuthorization();

    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    uint8 public constant decimals = 6;
    string public name;
    bool public isTransferPaused;
    address private admin;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => bool) public isAccountFrozen;
    mapping(address owner => mapping(address spender => uint256)) public allowance;
    mapping(address authorizer => mapping(bytes32 nonce => bool)) public authorizationState;

    modifier onlyAdmin() {
        require(msg.sender == admin, OnlyAdmin());
        _;
    }

    modifier whenNotPaused() {
        require(!isTransferPaused, TransferPaused());
        _;
    }

    function initialize(string calldata name_, address admin_) external {
        require(admin == address(0), AlreadyInitialized());
        name = name_;
        admin = admin_;
    }

    /// EIP-5267.
    function eip712Domain()
        external
        view
        returns (bytes1, string memory, string memory, uint256, address, bytes32, uint256[] memory)
    {
        return (hex"0f", name, "1", block.chainid, address(this), bytes32(0), new uint256[](0));
    }

    function transfer(address to, uint256 value) external whenNotPaused returns (bool) {
        _transfer(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external whenNotPaused returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        require(value <= allowed, ERC20InsufficientAllowance(msg.sender, allowed, value));
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        _transfer(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public {
        _useAuthorization(
            TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce, signature
        );
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        receiveWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public {
        require(to == msg.sender, InvalidPayee(msg.sender, to));
        _useAuthorization(
            RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce, signature
        );
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        require(!authorizationState[authorizer][nonce], UsedOrCanceledAuthorization());
        bytes32 structHash = keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce));
        _requireSigned(authorizer, structHash, abi.encodePacked(r, s, v));
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function mint(address to, uint256 value) external onlyAdmin {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function freeze(address account) external onlyAdmin {
        isAccountFrozen[account] = true;
    }

    function unfreeze(address account) external onlyAdmin {
        isAccountFrozen[account] = false;
    }

    function pause() external onlyAdmin {
        isTransferPaused = true;
    }

    function unpause() external onlyAdmin {
        isTransferPaused = false;
    }

    function _useAuthorization(
        bytes32 typeHash,
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) private whenNotPaused {
        require(block.timestamp > validAfter, InvalidAuthorization());
        require(block.timestamp < validBefore, ExpiredAuthorization());
        require(!authorizationState[from][nonce], UsedOrCanceledAuthorization());
        bytes32 structHash = keccak256(abi.encode(typeHash, from, to, value, validAfter, validBefore, nonce));
        _requireSigned(from, structHash, signature);
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        _transfer(from, to, value);
    }

    function _requireSigned(address signer, bytes32 structHash, bytes memory signature) private view {
        bytes32 separator = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256(bytes(name)),
                keccak256("1"),
                block.chainid,
                address(this)
            )
        );
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", separator, structHash));
        require(SignatureChecker.isValidSignatureNow(signer, digest, signature), InvalidSignature());
    }

    function _transfer(address from, address to, uint256 value) private {
        require(!isAccountFrozen[from], AccountIsFrozen(from));
        uint256 balance = balanceOf[from];
        require(value <= balance, ERC20InsufficientBalance(from, balance, value));
        balanceOf[from] = balance - value;
        require(!isAccountFrozen[to], AccountIsFrozen(to));
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
